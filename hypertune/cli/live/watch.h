/* watch.h - following a study: in lines, in a live view, or silently. */
#ifndef HT_HYPERTUNE_CLI_LIVE_WATCH_H
#define HT_HYPERTUNE_CLI_LIVE_WATCH_H

#include "hypertune/cli/frame/cli.h"

/* Waits silently for the end, or until the server holds the study for a person,
 * with a message. Returns the verdict (CLI_DONE or CLI_FAILED), CLI_OVERDUE,
 * CLI_INTERRUPTED, CLI_TERMINATED, or the code of the server's failure. */
int cli_watch_wait(struct cli *cli, const char *study);

/* Shows the study until it ends, as `run` does: the first Ctrl-C detaches
 * with advice, a second one soon after stops the study. Returns as
 * above. */
int cli_watch_run(struct cli *cli, const char *study);

#endif
