/* route.h - the table of all HTTP routes.
 *
 * A route names its method, the shape of its path, the roles that open it and
 * the one function that answers, in its lane: the core (changes), a reader
 * (queries), the store or the HTTP thread (logins, the dashboard's files,
 * constant answers). */
#ifndef HT_TUNER_HTTP_ROUTE_H
#define HT_TUNER_HTTP_ROUTE_H

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/core/request.h"
#include "tuner/http/login.h"
#include "tuner/read/reader.h"
#include "tuner/store/store.h"

/* The thread that answers a route. */
enum route_lane {
    LANE_CORE,   /* `core` runs on the core thread */
    LANE_READER, /* `read` runs on a reader thread */
    LANE_MODEL,  /* `read` runs on the thread of slow questions, which need a
                    model of the study */
    LANE_GATHER, /* `read` gathers on a reader thread what `core` then stores */
    LANE_STORE,  /* `store` runs on a thread of the store, then `core`, where it
                    is set, on the core thread */
    LANE_SEND,   /* `core` finds a tree on the core thread, from which `store`
                    then answers on a thread of the store */
    LANE_STREAM, /* `read` prepares, then events are streamed */
    LANE_INSTANT, /* `instant` is the answer */
    LANE_LOGIN,   /* `login` runs on the HTTP thread, then `core`, where it is
                     set and the client has a session, on the core thread */
    LANE_PAGE     /* a file of the dashboard is the answer, see dashboard.h */
};

/* Of core, read, store, instant and login its lane names the ones that are set.
 */
struct route {
    const char *method;
    const char *pattern; /* "/v1/projects/{project}/..." */
    unsigned needs;      /* one of these enum gate_role bits, or GATE_OPEN */
    enum route_lane lane;
    unsigned kinds;    /* STUDY_KIND() bits that the path shows; 0: any */
    bool routine;      /* a change that clients at work make all the time, see
                          enum audit_kind */
    bool is_raw;       /* its body is no JSON, so has no such type */
    const char *query; /* names that it takes there, see query.h */
    request_handler *core;
    reader_handler *read;
    store_handler *store;
    int64_t takes; /* bytes of a body that the store gets as it comes; 0: the
                      body is JSON of at most HT_MAX_SPEC */
    const char *instant;
    login_handler *login;
};

extern const struct route route_table[];
extern const size_t route_count;

/* Finds the route of a method ("HEAD" counts as "GET") and an undecoded path,
 * and fills scope, study, trial and operation of `req` with its decoded parts.
 * `/v1beta1/`, `/ui/projects/` and `/ml/v1/` are read as below `/v1/`.
 *
 * HT_NOT_FOUND  no route has such a path
 * HT_NO_METHOD  some have, but not with this method; *allow lists theirs
 * HT_INVALID    a part is not percent-encoded UTF-8, or empty */
enum ht_status route_find(const char *method, const char *path,
                          struct request *req, const struct route **route,
                          const char **allow, struct ht_error *err);

/* Decodes %XX of `len` bytes into the arena; NULL when malformed, not UTF-8,
 * or holding a NUL. */
char *route_decode(struct arena *arena, const char *text, size_t len);

#endif
