/* messages.h - a runner's messages to its server, proto/README.md section 4:
 * the choice and the text of the next request, and the envelope of answers. */
#ifndef HT_RUNNER_TALK_MESSAGES_H
#define HT_RUNNER_TALK_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/pace.h"
#include "proto/base/text.h"
#include "runner/base/order.h"
#include "runner/reports/log.h"
#include "runner/talk/elastic.h"
#include "runner/transfer/transfers.h"

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
    REQUEST_CHECKPOINT,
    REQUEST_DRAINED,
    REQUEST_REPORT,
    REQUEST_LOG
};

struct talk_request { /* the one under way */
    enum request_kind kind;
    struct order_key
        key; /* of its attempt, which may have been dropped since */
    size_t replica;
    int stream;      /* index in the replica's logs */
    bool whole;      /* its facts are complete */
    int64_t changes; /* bytes of git's changes that belong to them */
    struct log_chunk chunk;
    struct transfers_sent sent; /* the checkpoint */
    struct text body;           /* kept for `retry` */
    int64_t posted_at;          /* monotonic */
};

struct talk { /* state of sending and answers; see talk.h */
    /* Borrowed; given before talk_init(). */
    struct attempts *attempts;
    struct request_thread *thread;       /* for all requests but ... */
    struct request_thread *lease_thread; /* the poll, which may be held */
    struct sender *sender;
    struct discard *discard;
    struct output_sends *sends;
    struct uplink *uplink;
    const char *token_file; /* read again when the server refuses the token */
    const char *host;       /* shown to people */

    int64_t id;   /* of the newest request */
    bool greeted; /* the server has accepted hello of this boot */
    int64_t heartbeat_ms;
    int64_t beat_at; /* monotonic time of the newest heartbeat or its answer */
    int64_t beats_sent, beats_answered;
    int64_t heard_at;    /* monotonic time of the newest answer */
    bool doubtful;       /* a request was refused as wrong: hello comes next */
    bool waiting;        /* the request under way goes again at retry_at */
    int64_t retry_at;    /* monotonic */
    int64_t quiet_until; /* monotonic; no new request before */
    struct talk_request request;
    struct pace pace;   /* of messages that can have more or less */
    uint64_t turn;      /* chooses the attempt whose records or log come next */
    int64_t poll_id;    /* of the newest poll */
    int64_t poll_since; /* of the first one that it replaces, or its own */
    bool polling;       /* a poll is under way */
    int polled_slots;   /* that it named */
    struct elastic elastic; /* ... of an engine that makes them */
    int64_t poll_at;        /* monotonic; no new poll before */
    struct probes *probes;  /* for facts of attempts */
};

/* Starts an object that json_close() ends. */
void talk_open_message(struct text *out, const struct sender *sender,
                       const char *type, int64_t id);

/* Posts the most urgent request, if there is one; no other may be under way. */
void talk_send_next(struct talk *talk);
/* Posts the request under way once more, unchanged. */
void talk_post(struct talk *talk);
/* Monotonic time at which the next heartbeat is due. */
int64_t talk_heartbeat_at(const struct talk *talk);

/* The member `status` of an answer. */
enum answer_status {
    ANSWER_OK,
    ANSWER_RETRY,   /* again after retry_ms */
    ANSWER_GONE,    /* attempt or boot unknown, ended, superseded */
    ANSWER_DENIED,  /* token not allowed */
    ANSWER_INVALID, /* message wrong, or the answer is not readable */
};

struct server_answer {
    enum answer_status status;
    int64_t retry_ms;
    const char *error;      /* "" when the server gave none */
    const struct node *map; /* NULL when the answer is not readable */
};

/* Never fails: an answer that cannot be read is ANSWER_INVALID. Texts are in
 * the arena. retry_ms is as the server sent it, or the usual pause. */
struct server_answer talk_read_answer(struct arena *arena,
                                      const struct text *text);

#endif
