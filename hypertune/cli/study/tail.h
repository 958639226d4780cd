/* tail.h - what a trial printed, for people who want to know why. */
#ifndef HT_HYPERTUNE_CLI_STUDY_TAIL_H
#define HT_HYPERTUNE_CLI_STUDY_TAIL_H

#include "hypertune/cli/frame/cli.h"

/* Says the last lines that the first trial of a study printed to "stdout" or
 * "stderr"; nothing when there are none. */
void cli_tail_say(struct cli *cli, const char *study, const char *stream);

#endif
