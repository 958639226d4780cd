/* event_line.h - events of a job in the words of its log. */
#ifndef HT_TUNER_LOGS_EVENT_LINE_H
#define HT_TUNER_LOGS_EVENT_LINE_H

#include "proto/base/arena.h"
#include "tuner/db/rows.h"

/* The line, with *severity as Google calls it ("INFO"); NULL when the event is
 * none that a person would miss. Of a custom job there is one run, of a tuning
 * job there are trials. */
const char *event_line(struct arena *arena, const struct event_row *event,
                       enum job_kind kind, const char **severity);

#endif
