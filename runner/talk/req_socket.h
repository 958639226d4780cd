/* req_socket.h - the REQ side of nng's REQ/REP protocol, to one server:
 * proto/README.md section 1.
 *
 * The owner resends and finds the server again, so nng's own resending is off,
 * and a lost connection is reported at once. One thread; every wait ends early
 * when the `kick` descriptor becomes readable. */
#ifndef HT_RUNNER_TALK_REQ_SOCKET_H
#define HT_RUNNER_TALK_REQ_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"
#include "proto/base/text.h"

struct req_socket;

/* How sending or waiting ended. */
enum req_socket_result {
    REQ_ANSWERED,
    REQ_SILENT, /* no answer in time */
    REQ_KICKED, /* `kick` became readable */
    REQ_CUT     /* the connection was lost and is closed */
};

/* The first call starts nng's threads. `kick` is borrowed.
 * HT_IO  no descriptor or no thread can be made */
enum ht_status req_socket_new(int kick, struct req_socket **req,
                              struct ht_error *err);
/* For the end of the program: a connection without its answer is left to the
 * kernel. Accepts NULL. */
void req_socket_free(struct req_socket *req);

/* As far as this side has noticed; a loss shows with the next send or wait. */
bool req_socket_is_open(const struct req_socket *req);
void req_socket_close(
    struct req_socket *req); /* req_socket_connect() may follow */

/* Connects to "tcp://HOST:PORT" and shakes hands.
 * HT_INVALID      the URL is no such address
 * HT_UNAVAILABLE  no REP peer answers there in time, or a kick came
 * HT_IO           no socket can be made */
enum ht_status req_socket_connect(struct req_socket *req, const char *url,
                                  int timeout_ms, struct ht_error *err);

/* Sends a request on the open connection; an answer to an older one is ignored
 * from now on. REQ_ANSWERED means "sent"; after any other result it may have
 * been sent or not. */
enum req_socket_result req_socket_send(struct req_socket *req,
                                       const char *bytes, size_t len,
                                       int timeout_ms);

/* Waits for the answer to the newest request and appends it. It may be called
 * again after REQ_SILENT and REQ_KICKED. */
enum req_socket_result req_socket_wait(struct req_socket *req, int timeout_ms,
                                       struct text *answer);

#endif
