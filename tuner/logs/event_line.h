/* event_line.h - events of a job as lines of its log. */
#ifndef HT_TUNER_LOGS_EVENT_LINE_H
#define HT_TUNER_LOGS_EVENT_LINE_H

#include "proto/base/arena.h"
#include "tuner/db/rows.h"

/* The line, with *severity as Google calls it ("INFO"); NULL when the log does
 * not show the event. A custom job has one run, a tuning job has trials. */
const char *event_line(struct arena *arena, const struct event_row *event,
                       enum job_kind kind, const char **severity);

#endif
