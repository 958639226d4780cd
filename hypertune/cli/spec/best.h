/* best.h - the trials of a study with several goals that no other one
 * beats. */
#ifndef HT_HYPERTUNE_CLI_SPEC_BEST_H
#define HT_HYPERTUNE_CLI_SPEC_BEST_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/study/study.h"

/* Prints them as -o wants, the best in the first goal first, or with --metric
 * the best in that one alone: an exit code. */
int cli_best_front(struct cli *cli, const struct cli_study *study);

#endif
