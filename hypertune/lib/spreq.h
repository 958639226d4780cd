/* spreq.h - one REQ connection of nng's SP protocol over tcp, by hand.
 *
 * Runs inside other people's trainers, where nng itself cannot: no thread, no
 * allocation, no signal, every wait has a deadline. Wire: proto/README.md
 * section 1. One thread at a time. */
#ifndef HT_HYPERTUNE_LIB_SPREQ_H
#define HT_HYPERTUNE_LIB_SPREQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SPREQ_MAX_HOST = 256,           /* bytes of a host name with its NUL */
    SPREQ_MAX_MESSAGE = 1024 * 1024 /* bytes of a payload, either way */
};

/* One thread at a time, but for `error`. Requests go out one at a time. */
struct spreq {
    char host[SPREQ_MAX_HOST]; /* name or address, without brackets */
    uint16_t port;             /* host byte order */
    int fd;                    /* connected and greeted, or -1 */
    ino_t inode;               /* of fd, to notice that it was taken away */
    uint32_t id;               /* of the newest request, without the top bit */
    int backoff_ms;            /* wait before the next connect; 0: none yet */
    int64_t connect_at_ms;     /* monotonic ms; no connect before this */
    bool was_silent;           /* the newest request got no answer in time */
    _Atomic int error; /* errno of the newest trouble, 0: none; any thread */
};

/* Allocated by the caller, never grown here. */
struct spreq_buffer {
    char *data;
    size_t cap; /* bytes of data */
    size_t len; /* bytes filled by spreq_request() */
};

/* Reads "tcp://host:port" ([v6] in brackets); connects later.
 * EINVAL  not such an address */
int spreq_init(struct spreq *req, const char *url);
/* Closes the connection; the next request opens a new one. */
void spreq_close(struct spreq *req);

/* Connects unless it is connected (with pauses of 0.1 s growing to 5 s between
 * tries), sends the payload and waits for its answer, which replaces
 * answer->len bytes of answer->data (no NUL); answers to older requests are
 * skipped. Returns 0 or
 * ETIMEDOUT   no byte moved for silent_ms, either way; req->error says what
 *             went wrong last. The second time in a row it disconnects.
 * ECONNRESET  the connection broke; the server may have got the request
 * EMSGSIZE    the payload is over SPREQ_MAX_MESSAGE bytes */
int spreq_request(struct spreq *req, const char *payload, size_t len,
                  struct spreq_buffer *answer, int silent_ms);
/* The same request once more, after ETIMEDOUT or ECONNRESET, perhaps with less
 * in it: the late answer to an earlier sending will do as well, so that a
 * server slower than silent_ms is still understood. */
int spreq_resend(struct spreq *req, const char *payload, size_t len,
                 struct spreq_buffer *answer, int silent_ms);

#endif
