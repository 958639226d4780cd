/* principal.h - who asks: the name, what it may do, in which project, and from
 * which address. */
#ifndef HT_TUNER_CORE_PRINCIPAL_H
#define HT_TUNER_CORE_PRINCIPAL_H

#include <stdint.h>

#include "proto/base/limits.h"
#include "proto/base/token.h"

enum {
    PRINCIPAL_NAME_BYTES = HT_MAX_NAME + 16,
    PRINCIPAL_PEER_BYTES = 46,        /* INET6_ADDRSTRLEN */
    PRINCIPAL_CERTIFICATE_BYTES = 128 /* TLS_NAME_BYTES */
};

/* Set by the interface before the request is posted; budgets, queues and the
 * audit log count by `name`. */
struct principal {
    char name[PRINCIPAL_NAME_BYTES]; /* the actor of its events: "admin",
                                        "runner NAME", "user NAME" of a
                                        proxy; "": the core itself */
    unsigned roles;                  /* bits of enum gate_role */
    char project[HT_MAX_NAME + 1];   /* the only one it may use; "": all */
    int64_t study;                   /* id of the only one; 0: all */
    char peer[PRINCIPAL_PEER_BYTES]; /* its address, without a port; "": none */
    char certificate[PRINCIPAL_CERTIFICATE_BYTES]; /* the name in the one it
                                                      showed by TLS; "": none */
    unsigned char token[TOKEN_HASH_BYTES]; /* SHA-256 of its token; zeros: it
                                              gave none */
};

#endif
