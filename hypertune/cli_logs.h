/* cli_logs.h - what a trial printed, as it comes. */
#ifndef HT_HYPERTUNE_CLI_LOGS_H
#define HT_HYPERTUNE_CLI_LOGS_H

#include "hypertune/cli_context.h"

/* Prints the log of the trial's newest attempt from its beginning, and those
 * of the attempts that follow it, until the study is over. Returns CLI_DONE,
 * or why it broke off. */
int cli_logs_follow(struct cli *cli, const char *study, const char *trial);

#endif
