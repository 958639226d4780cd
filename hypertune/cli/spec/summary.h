/* summary.h - the best trial of a study in words, and how to run it. */
#ifndef HT_HYPERTUNE_CLI_SPEC_SUMMARY_H
#define HT_HYPERTUNE_CLI_SPEC_SUMMARY_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/spec/spec.h"
#include "hypertune/cli/study/study.h"

/* The end of `run`: how the study ended, its best trial and the command that
 * repeats it. Returns `code`, or why the server failed. */
int cli_summary_run(struct cli *cli, const struct cli_spec *spec,
                    const char *study, int code);

#endif
