/* request.h - one request to the core, from any interface.
 *
 * An interface (HTTP, the report address, the control address) makes a request,
 * fills the upper half and posts it. The dispatcher opens a savepoint, calls
 * `handle`, and after the commit calls `answer` on the core thread with the
 * lower half filled; the request then belongs to the interface again.
 * Everything a handler allocates goes into the request's arena, so handlers
 * have no clean-up code. */
#ifndef HT_TUNER_CORE_REQUEST_H
#define HT_TUNER_CORE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "tuner/core/principal.h"
#include "tuner/db/rows.h"

struct core;
struct request;
struct transfer;

/* Whether a request is in the audit log, see audit.h. */
enum audit_kind {
    AUDIT_NOT,    /* it changes nothing */
    AUDIT_EACH,   /* with a line of its own */
    AUDIT_ROUTINE /* a client at work: those alike within a minute share one */
};

/* What a request turned out to be about, for the audit log. In its arena. */
struct audit_subject {
    int64_t study;              /* 0: none */
    const char *project, *name; /* of the study; NULL: as the path has them */
    const char *detail;         /* a token and its role, a runner; NULL: none */
};

/* Changes the database through the core's db and fills `reply` with JSON. On
 * failure its savepoint is rolled back and `err` is the client's answer. */
typedef enum ht_status request_handler(struct core *core, struct request *req,
                                       struct ht_error *err);
typedef void request_answer(struct request *req);

/* A tree of the store that a handler of the core has found, for a thread of the
 * store to answer from. In the request's arena. */
struct tree_found {
    const char *project, *tree;
    const char *title; /* of its files together: a file's name, plain ASCII */
    int64_t stored_ms; /* wall clock */
    int64_t after, limit; /* entries of it that a list leaves out, and has */
};

/* Belongs to one thread at a time: the interface's, then the core's until
 * `answer` is called. */
struct request {
    /* from the interface */
    struct arena *arena; /* owned by the request */
    request_handler *handle;
    request_answer *answer;
    void *owner;              /* the interface's own data */
    struct principal from;    /* who asks: the actor of its events */
    const struct node *body;  /* parsed message or HTTP body; NULL: none */
    struct study_scope scope; /* HTTP path parts, decoded; the path's kinds */
    const char *method;       /* of the route; NULL: not over HTTP */
    const char *pattern;      /* the same */
    enum audit_kind audit;
    const char *version;     /* of Google's API: "v1beta1", or NULL: v1 */
    const char *study;       /* number or name, or NULL */
    const char *trial;       /* or NULL */
    const char *operation;   /* or NULL */
    const char *token;       /* name of one, or NULL */
    const char *runner;      /* name of one, or NULL */
    int64_t session;         /* number of a browser's, which ends; 0: none */
    int64_t session_until_s; /* when it would have ended, wall clock */
    const char *file;        /* of the dashboard, or NULL */
    const char *chunk;       /* name of one in the store, or NULL */
    const char *tree;        /* the same */
    const char *range;       /* header of HTTP, or NULL */
    struct pairs query;      /* of HTTP, decoded: see query.h */
    size_t page_most;        /* elements in a page; 0: as the list has it */
    const char *tls_host;    /* HOST[:PORT] by which its client reached this
                                server by TLS, or NULL */

    /* from the core */
    struct audit_subject subject;
    enum ht_status status;
    struct ht_error err;            /* when status is not HT_OK */
    struct diag *diag;              /* field violations, or NULL */
    const struct strings *missing;  /* names of what failed, or NULL */
    struct text reply;              /* JSON; owned, freed by request_free() */
    const char *reply_type;         /* what it is instead of JSON, or NULL */
    const char *reply_name;         /* of the file to be saved, or NULL: it is
                                       none; foreign */
    const struct tree_found *found; /* instead of a reply; or NULL */
    bool more;             /* the reply is a piece, ask again for the next */
    int64_t cursor;        /* where the next piece begins; 0 at first */
    int64_t held_until_ms; /* > 0: held, to be answered later (monotonic) */
    int64_t held_for;      /* the study whose change it waits for; 0: it is a
                              runner's poll */
    void *kept; /* of a held one, or of one answered in pieces: state of its
                   handler, in the arena */
    struct transfer *transfer; /* of the store, given up by the interface; or
                                  NULL */
    struct request *next;      /* link of whichever list holds it */

    /* from either side, by any thread */
    _Atomic bool abandoned; /* its client has gone: an answer is needed, but
                               work for it is not */
};

/* The caller owns it and its arena until it posts it. */
struct request *request_new(void);
void request_free(struct request *req); /* accepts NULL */
/* The value of a name in the query, or NULL. */
const char *request_query(const struct request *req, const char *name);

/* --- a queue of requests, linked by `next`; one thread at a time --- */

struct request_queue {
    struct request *first, **last;
};

/* An empty queue; it links to itself, so it must not be moved. A request is in
 * one queue at a time, which does not own it. */
void request_queue_init(struct request_queue *queue);
void request_queue_push(struct request_queue *queue, struct request *req);
/* The first one, or NULL. */
struct request *request_queue_pop(struct request_queue *queue);
/* Puts all of `from` before what `to` holds; `from` is empty afterwards. */
void request_queue_prepend(struct request_queue *to,
                           struct request_queue *from);
/* Puts all of `from` behind what `to` holds; `from` is empty afterwards. */
void request_queue_append(struct request_queue *to, struct request_queue *from);

#endif
