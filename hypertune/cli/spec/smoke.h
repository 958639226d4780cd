/* smoke.h - one real trial of a spec, looked at before its study starts. */
#ifndef HT_HYPERTUNE_CLI_SPEC_SMOKE_H
#define HT_HYPERTUNE_CLI_SPEC_SMOKE_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/spec/spec.h"

/* Runs the first suggestion as the one trial of a study of its own, on the
 * runners of the server and in containers like any other, and removes it. The
 * trial is stopped once its objective has come twice, unless --full lets it
 * end, and after --timeout (2 minutes).
 *
 * Returns CLI_DONE when the objective came, CLI_FAILED when the trial ended
 * without it, CLI_OVERDUE when time was up before, or why there was no trial.
 */
int cli_smoke(struct cli *cli, const struct cli_spec *spec);

#endif
