/* submit.h - making the server's study agree with a spec. */
#ifndef HT_HYPERTUNE_CLI_SPEC_SUBMIT_H
#define HT_HYPERTUNE_CLI_SPEC_SUBMIT_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/spec/spec.h"
#include "hypertune/cli/study/study.h"

enum submit_result { SUBMIT_CREATED, SUBMIT_ATTACHED, SUBMIT_CHANGED };

/* Creates the study of the spec, or attaches to, continues or replaces the
 * one that has its name, as the settings say. Connects first.
 * Returns CLI_DONE or the exit code after having said why. */
int cli_submit_spec(struct cli *cli, const struct cli_spec *spec,
                    struct cli_study *study, enum submit_result *result);

/* Says what the server's answer to a new job warns of: what none of its runners
 * can do by now. */
void cli_submit_say_warnings(struct cli *cli, const struct cli_study *study);

#endif
