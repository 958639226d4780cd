/* talk.h - sends a runner's messages and handles the answers.
 *
 * About its attempts the runner sends one request at a time, the most urgent
 * first: hello, heartbeat, start and end of an attempt, records, logs. Beside
 * it there is always one poll, which the server holds, for work and for orders
 * to stop. A poll for work is never cancelled, since its answer may be a lease;
 * one without free slots is replaced as soon as a slot is free.
 *
 * One thread; the request threads wait for answers. */
#ifndef HT_RUNNER_TALK_TALK_H
#define HT_RUNNER_TALK_TALK_H

#include <stdint.h>

#include "runner/talk/messages.h"

/* For the thread of the poll: longer than the server holds it. */
enum { TALK_LEASE_PATIENCE_MS = 30000 };

void talk_init(struct talk *talk);
void talk_fini(struct talk *talk);

/* Handles answers that have come, posts the next request, if any, and keeps a
 * poll under way. */
void talk_tick(struct talk *talk);
/* Monotonic time at which talk_tick() has something to do without any other
 * event; INT64_MAX: never. */
int64_t talk_wake_at(const struct talk *talk);

#endif
