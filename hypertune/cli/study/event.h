/* event.h - one event of a study as one line, for pipes and logs. */
#ifndef HT_HYPERTUNE_CLI_STUDY_EVENT_H
#define HT_HYPERTUNE_CLI_STUDY_EVENT_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/study/study.h"

/* Appends the line for an event, with its newline; nothing for events that
 * say nothing new to a person (prepared trials, single measurements unless
 * --verbose). May ask the server for the trial. With -o jsonl: the event as
 * it came. */
void cli_event_line(struct cli *cli, const struct cli_study *study,
                    const struct node *event, struct text *out);

#endif
