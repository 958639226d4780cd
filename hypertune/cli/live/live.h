/* live.h - a study that is followed: silently, in lines, or in a live view on a
 * terminal, redrawn in place.
 *
 * Between open and close the terminal gives single keys without echo; close
 * (and every way out of the program that goes through it) restores it, and so
 * does a stop by Ctrl-Z until the process is continued. */
#ifndef HT_HYPERTUNE_CLI_LIVE_LIVE_H
#define HT_HYPERTUNE_CLI_LIVE_LIVE_H

#include <stdbool.h>

#include "hypertune/cli/study/follow.h"

struct cli_live;

/* Borrows `follow`, which must outlive it. */
struct cli_live *cli_live_open(struct cli_follow *follow);
void cli_live_close(struct cli_live *live); /* accepts NULL */

/* Shows the text below the keys. */
void cli_live_note(struct cli_live *live, const char *text);

/* Takes the news of one round and draws, at most 4 times a second. */
void cli_live_round(struct cli_live *live, const struct cli_study *study,
                    const struct node *events);
/* The server did not answer: draws the newest study (NULL: none was seen) with
 * a note. */
void cli_live_away(struct cli_live *live, const struct cli_study *study);
/* Waits as screen_wait() does; takes the keys: pause, resume, stop, logs, best,
 * quit. */
int cli_live_wait(struct cli_live *live);
bool cli_live_has_quit(const struct cli_live *live); /* by the q key */

/* ---- watch.c ---- */

/* Waits silently for the end, or until the server holds the study for a person,
 * with a message. Returns the verdict (CLI_DONE or CLI_FAILED), CLI_OVERDUE,
 * CLI_INTERRUPTED, CLI_TERMINATED, or the code of the server's failure. */
int cli_watch_wait(struct cli *cli, const char *study);

/* Shows the study until it ends, as `run` does: the first Ctrl-C detaches
 * with advice, a second one soon after stops the study. Returns as
 * above. */
int cli_watch_run(struct cli *cli, const char *study);

#endif
