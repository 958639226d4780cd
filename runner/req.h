/* req.h - the asking side of nng's REQ/REP protocol on one TCP connection:
 * proto/README.md section 1.
 *
 * Spoken by hand, because nng_close() of nng 1.5.2 can wait for ever while a
 * request is under way, and because a plain socket shows at once that the
 * server is gone. One thread; every wait ends early when the `kick` descriptor
 * becomes readable. */
#ifndef HT_RUNNER_REQ_H
#define HT_RUNNER_REQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/error.h"
#include "proto/text.h"

struct req {
    int fd;         /* -1: not connected */
    int kick;       /* borrowed */
    uint32_t id;    /* of the newest request */
    struct text in; /* bytes that are not yet a whole frame */
};

enum req_result {
    REQ_ANSWERED,
    REQ_SILENT, /* the time is over */
    REQ_KICKED, /* somebody wants the thread's attention */
    REQ_CUT     /* the connection is gone and closed */
};

void req_init(struct req *req, int kick);
void req_close(struct req *req); /* req_connect() may follow */

/* Connects to "tcp://HOST:PORT" and shakes hands.
 * HT_INVALID      the URL is no such address
 * HT_UNAVAILABLE  nobody who speaks REP answers there in time */
enum ht_status req_connect(struct req *req, const char *url, int timeout_ms,
                           struct ht_error *err);

/* Sends a request with a new id; an answer to an older one is then ignored.
 * After anything but REQ_ANSWERED (which means "sent") nothing was promised. */
enum req_result req_send(struct req *req, const char *bytes, size_t len,
                         int timeout_ms);

/* Waits for the answer to the newest request and appends it. */
enum req_result req_wait(struct req *req, int timeout_ms, struct text *answer);

#endif
