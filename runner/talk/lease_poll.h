/* lease_poll.h - the held poll by which the runner gets work and orders to
 * stop.
 *
 * There is always one poll, also without a free slot, for the orders. A poll
 * that asked for work is never given up, since its answer may be a commitment;
 * one that asked for none is replaced as soon as a slot is free. */
#ifndef HT_RUNNER_TALK_LEASE_POLL_H
#define HT_RUNNER_TALK_LEASE_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/attempt/attempts.h"
#include "runner/talk/request_thread.h"
#include "runner/talk/talk.h"

struct lease_poll {
    struct attempts *attempts;
    struct request_thread *thread;
    const struct sender *sender;
    int64_t id;      /* of the newest poll */
    bool polling;    /* a poll is under way */
    int asked;       /* slots it named */
    int64_t next_at; /* monotonic; no new poll before */
};

/* LEASE_PATIENCE_MS is for the thread: longer than the server's hold. */
enum { LEASE_PATIENCE_MS = 30000 };

/* Handles an answer that has come and keeps a poll going; `greeted` becomes
 * false when the server does not know this boot of the runner. */
void lease_poll_tick(struct lease_poll *poll, bool *greeted);

#endif
