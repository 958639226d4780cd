/* arrival.h - how a request came: straight from its client, or by a declared
 * proxy that ends TLS, and may have logged a person in. Headers that forward or
 * name a person count from such a proxy alone. */
#ifndef HT_TUNER_HTTP_ARRIVAL_H
#define HT_TUNER_HTTP_ARRIVAL_H

#include <stdbool.h>

#include <netinet/in.h>

#include "proto/base/error.h"

struct proxies;

/* What the options say of them; borrowed. */
struct proxies_wanted {
    const char *list;        /* "ADDRESS,NETWORK/BITS" */
    const char *user_header; /* by which they name a person; NULL: none */
    bool insecure;           /* others are served, too */
};

/* HT_INVALID: the list or the name of the header. */
enum ht_status proxies_new(const struct proxies_wanted *wanted,
                           struct proxies **proxies, struct ht_error *err);
void proxies_free(struct proxies *proxies); /* accepts NULL */
/* NULL: they name no one. */
const char *proxies_user_header(const struct proxies *proxies);

struct arrival {
    bool secure;                 /* by https, as far as we see */
    char peer[INET6_ADDRSTRLEN]; /* the client's address */
    const char *person;          /* whom the proxy names; NULL: no one */
};

/* What a connection and the headers of a request say; NULL: absent. */
struct arrival_words {
    const char *from; /* address of the connection's other end */
    bool by_tls;      /* of this server: no proxy is between */
    const char *forwarded_for, *forwarded_proto;
    const char *user;           /* as proxies_user_header() */
    int n_for, n_proto, n_user; /* headers of that name */
};

/* The person is borrowed from the words.
 * HT_DENIED   neither this machine nor a proxy asks, or by http
 * HT_INVALID  a proxy's headers are malformed */
enum ht_status arrival_read(const struct proxies *proxies,
                            const struct arrival_words *words,
                            struct arrival *arrival, struct ht_error *err);

#endif
