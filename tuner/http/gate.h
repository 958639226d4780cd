/* gate.h - permissions: the one check before every HTTP route.
 *
 * Deny by default: a request must name this server as its Host, come from no
 * foreign page, and carry a token that was granted a role the route asks for.
 * Only routes that need nothing are open. Tokens are kept as SHA-256.
 *
 * Why Host: a page that rebinds its own name to 127.0.0.1 sends everything a
 * local page would, but for that header. */
#ifndef HT_TUNER_HTTP_GATE_H
#define HT_TUNER_HTTP_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"
#include "tuner/base/token_board.h"
#include "tuner/core/principal.h"
#include "tuner/db/rows.h"

/* What a route needs and a token grants: a set of bits. */
enum gate_role {
    GATE_OPEN = 0, /* for a route that is open to all */
    GATE_ADMIN = 1,
    GATE_SUBMIT = 2, /* create and change studies */
    GATE_READ = 4,
    GATE_RUNNER = 8, /* what a runner must know to reach its address */
    GATE_TRIAL = 16, /* reports of one attempt; opens no HTTP route */
    GATE_JOIN = 32,  /* make one token of a runner, once */
    GATE_SHARE = 64, /* look at one study, without what its spec says */
    GATE_ALL = GATE_ADMIN | GATE_SUBMIT | GATE_READ | GATE_RUNNER
};

struct gate;

/* `open_to_all`: every request has all roles, as --auth none asks. */
struct gate *gate_new(bool open_to_all);
void gate_free(struct gate *gate); /* accepts NULL */

/* Whether it was made so; then tokens are not asked for. */
bool gate_is_open_to_all(const struct gate *gate);

/* Before the first request: grants roles to a token; allows an authority
 * ("HOST:PORT" as clients write it; also without the port when it is 80). */
void gate_grant(struct gate *gate, const char *token, unsigned roles);
/* The named tokens, borrowed. */
void gate_use_tokens(struct gate *gate, struct token_board *tokens);
/* What people may do whom a proxy names; without it they are strangers. */
void gate_admit_people(struct gate *gate, enum token_role role);
/* `host` without brackets, also of IPv6; copied. */
void gate_allow_host(struct gate *gate, const char *host, int port);
/* `name` is "https://HOST[:PORT]"; copied. HT_INVALID when it is not. */
enum ht_status gate_allow_name(struct gate *gate, const char *name, size_t len,
                               struct ht_error *err);
/* Allows every literal address with this port: names can be rebound, literals
 * cannot. For a server that listens on all addresses. */
void gate_allow_literals(struct gate *gate, int port);

/* The headers that matter; NULL when absent. */
struct gate_request {
    const char *method;
    const char *host;
    int n_hosts; /* Host headers seen */
    const char *origin;
    const char *authorization;
    const char *agent;            /* User-Agent */
    const unsigned char *session; /* SHA-256 of the token of its session, see
                                     sessions.h; NULL: none */
    const char *person;           /* whom the proxy names, or NULL */
    const char *peer;             /* address of the client, or NULL */
    const char *certificate;      /* name in its certificate, or NULL */
    const char *content_type;
    bool has_body;
    bool is_raw; /* its route takes bytes that are no JSON */
    bool secure; /* it came by https, see arrival.h */
};

/* Whether the request is for this server and not from a page of another site.
 * HT_INVALID      no Host or more than one
 * HT_MISDIRECTED  the Host is not this server
 * HT_DENIED       the Origin is not this server */
enum ht_status gate_check_place(const struct gate *gate,
                                const struct gate_request *request,
                                struct ht_error *err);

/* HT_PRECONDITION when one of our own clients asks whose release does not work
 * with this one; the message has the repair. */
enum ht_status gate_check_release(const struct gate_request *request,
                                  struct ht_error *err);

/* Who the client is: by the token, or without one by the session, or without
 * either by its proxy.
 * HT_UNAUTHENTICATED: none of them, or a wrong token
 * HT_DENIED: a change by a session or a proxy's word without the header Origin
 */
enum ht_status gate_check_token(const struct gate *gate,
                                const struct gate_request *request,
                                struct principal *from, struct ht_error *err);

/* The same for a token by its SHA-256, without a request; keeps `from->peer`.
 */
enum ht_status gate_find_token(const struct gate *gate,
                               const unsigned char token[TOKEN_HASH_BYTES],
                               struct principal *from, struct ht_error *err);

/* "admin": the name of a role. */
const char *gate_role_name(enum gate_role role);
/* HT_DENIED when none of the needed roles is there. */
enum ht_status gate_check_role(unsigned needs, unsigned roles,
                               struct ht_error *err);

/* A browser sends JSON across sites only after asking first, so changes must
 * be JSON; PUT it sends only then, whatever the type. HT_INVALID. */
enum ht_status gate_check_type(const struct gate_request *request,
                               struct ht_error *err);

/* A principal of one project may use what lies below it, and of our own paths
 * studies, its session and the stream of events. HT_NOT_FOUND: another project.
 * HT_DENIED: the route shows more than one project. Sets the project and the
 * study of `scope`, so that no other one is found. */
enum ht_status gate_check_scope(const struct principal *from,
                                const char *pattern, struct study_scope *scope,
                                struct ht_error *err);

#endif
