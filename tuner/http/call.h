/* call.h - one HTTP request from its first header to its last byte.
 *
 * The HTTP thread makes and ends a call; while it is posted, the core or a
 * reader holds it too, and the last of the two to release it frees it. */
#ifndef HT_TUNER_HTTP_CALL_H
#define HT_TUNER_HTTP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "tuner/http/peers.h"
#include "tuner/store/store.h"

struct MHD_Connection;
struct head;
struct http;

/* Bytes of a body that are read, kept or not, before it is refused, so that the
 * client gets the answer. */
enum { CALL_MOST_READ = 16 * HT_MAX_SPEC };

/* A posted call becomes one of the last two; an answer in pieces is posted
 * again. */
enum call_phase {
    CALL_READING,  /* its body comes in */
    CALL_POSTED,   /* suspended; a lane works on it */
    CALL_ANSWERED, /* resumed with req's lower half filled */
    CALL_EXPIRED   /* resumed without an answer */
};

struct call {
    struct http *http;
    struct MHD_Connection *connection;
    struct peer *peer;
    struct request *req;
    const struct route *route;
    const char *allow;  /* for 405 */
    const char *cookie; /* Set-Cookie of the answer, or NULL; in req's arena */
    bool is_head;
    bool secure; /* it came by https */
    const char
        *person;     /* whom its proxy names, or NULL; borrowed from a header */
    bool unclaimed;  /* the connection has no proved client, and ends after this
                      */
    bool is_foreign; /* it asks for a project that its token does not have */
    bool is_framed;  /* it is clear where the request ends */
    struct text body;
    size_t received;         /* bytes of body, kept or not */
    store_handler *step;     /* of LANE_STORE: what it is posted for */
    struct ht_error refusal; /* of its headers, sent behind the body */
    size_t sent;             /* of the piece in req->reply */
    bool begun;              /* an answer in pieces has begun */
    bool takes_interim;      /* the client has HTTP/1.1 */
    bool gathered;           /* the first of its two lanes has answered */
    bool finishing;          /* of LANE_STORE: all of its body has come */

    /* guarded by http->lock */
    enum call_phase phase;
    int holders;
    int64_t posted_ms;          /* monotonic */
    int64_t deadline_ms;        /* of a posted call, monotonic */
    bool probed;                /* by call_probe() */
    struct call *before, *next; /* list of posted calls */
};

/* A header's value; NULL: it has none. */
const char *call_header(const struct call *call, const char *name);
/* Bytes that its body may have. */
int64_t call_most_body(const struct call *call);
/* HT_TOO_LARGE */
enum ht_status call_refuse_size(const struct call *call, struct ht_error *err);
/* Checks the headers: grammar, gate, route, size. */
enum ht_status call_begin(struct call *call, const struct head *head,
                          struct ht_error *err);
/* Whether what follows the headers ends within what is read, and comes without
 * a go-ahead. */
bool call_is_bounded(const struct call *call);
/* Parses the whole body, then suspends and posts the call, or answers it. */
enum ht_status call_dispatch(struct call *call, struct ht_error *err);
/* Suspends the connection and hands the call to its lane, for the answer or
 * its next piece. HT_UNAVAILABLE once the server waits for no answer. */
enum ht_status call_post(struct call *call, struct ht_error *err);
/* Resumed with its request filled, not because its time was up. */
bool call_is_answered(struct call *call);
/* Queues the answer of a call that was resumed. */
bool call_finish(struct call *call);
/* Queues a refusal; `close` ends the connection after it. */
bool call_refuse(struct call *call, const struct ht_error *err, bool close);

/* One holder, the HTTP thread, until call_end(); has an empty request. */
struct call *call_new(struct http *http, struct MHD_Connection *connection,
                      struct peer *peer);
/* The HTTP thread releases it. */
void call_end(struct call *call);
/* Resumes a posted call unanswered; http->lock is held. */
void call_expire(struct call *call);
/* The same where the client has gone. */
void call_abandon(struct call *call);
/* Finds out whether the client of a posted call, which sends no more, has gone;
 * http->lock is held. */
void call_probe(struct call *call);

#endif
