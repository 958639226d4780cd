/* trial_table.h - trials as -o wants them. */
#ifndef HT_HYPERTUNE_CLI_STUDY_TRIAL_TABLE_H
#define HT_HYPERTUNE_CLI_STUDY_TRIAL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

/* One trial, appended; false when the form is that for people. */
bool cli_trial_table_fields(struct cli *cli, const struct cli_study *study,
                            const struct node *trial, struct text *out);

/* Prints a list of trials in any form: an exit code. */
int cli_trial_table_print(struct cli *cli, const struct cli_study *study,
                          size_t n, const struct node *const trials[]);

#endif
