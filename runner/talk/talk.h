/* talk.h - the messages between runner and server.
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

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "runner/base/order.h"
#include "runner/reports/log.h"

struct sender {      /* identifies the runner */
    char token[256]; /* of the runner */
    char runner[40]; /* kept across restarts */
    char boot[40];   /* random per start */
};

enum request_kind {
    REQUEST_NONE,
    REQUEST_HELLO,
    REQUEST_HEARTBEAT,
    REQUEST_STARTED,
    REQUEST_ENDED,
    REQUEST_DRAINED,
    REQUEST_REPORT,
    REQUEST_LOG
};

struct request { /* the one under way */
    enum request_kind kind;
    struct order_key
        key; /* of its attempt, which may have been dropped since */
    size_t replica;
    int stream; /* index in the replica's logs */
    bool whole; /* its facts are complete */
    struct log_chunk chunk;
    struct text body; /* kept for `retry` */
};

/* For the thread of the poll: longer than the server holds it. */
enum { TALK_LEASE_PATIENCE_MS = 30000 };

struct talk {
    /* Borrowed; given before talk_init(). */
    struct attempts *attempts;
    struct request_thread *thread;       /* for all requests but ... */
    struct request_thread *lease_thread; /* the poll, which may be held */
    struct sender *sender;
    struct discard *discard;
    const char *token_file; /* read again when the server refuses the token */
    const char *host;       /* shown to people */

    int64_t id;   /* of the newest request */
    bool greeted; /* the server has accepted hello of this boot */
    int64_t heartbeat_ms;
    int64_t beat_at; /* monotonic time of the newest heartbeat */
    int64_t beats_sent, beats_answered;
    int64_t heard_at;    /* monotonic time of the newest answer */
    bool doubtful;       /* a request was refused as wrong: hello comes next */
    bool waiting;        /* the request under way goes again at retry_at */
    int64_t retry_at;    /* monotonic */
    int64_t quiet_until; /* monotonic; no new request before */
    struct request request;
    uint64_t turn;    /* chooses the attempt whose records or log come next */
    int64_t poll_id;  /* of the newest poll */
    bool polling;     /* a poll is under way */
    int polled_slots; /* that it named */
    int64_t poll_at;  /* monotonic; no new poll before */
    struct git_commit *commit;
};

void talk_init(struct talk *talk);
void talk_fini(struct talk *talk);

/* Handles answers that have come, posts the next request, if any, and keeps a
 * poll under way. */
void talk_tick(struct talk *talk);
/* Monotonic time at which talk_tick() has something to do without any other
 * event; INT64_MAX: never. */
int64_t talk_wake_at(const struct talk *talk);

#endif
