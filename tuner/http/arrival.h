/* arrival.h - how a request came: straight from its client, or by a declared
 * proxy that ends TLS. Headers that forward count from such a proxy alone. */
#ifndef HT_TUNER_HTTP_ARRIVAL_H
#define HT_TUNER_HTTP_ARRIVAL_H

#include <stdbool.h>

#include <netinet/in.h>

#include "proto/base/error.h"

struct proxies;

/* Reads "ADDRESS,ADDRESS"; `insecure`: others are served, too. HT_INVALID. */
enum ht_status proxies_new(const char *list, bool insecure,
                           struct proxies **proxies, struct ht_error *err);
void proxies_free(struct proxies *proxies); /* accepts NULL */

struct arrival {
    bool secure;                 /* by https, as far as we see */
    char peer[INET6_ADDRSTRLEN]; /* the client's address */
};

/* What a connection and the headers of a request say; NULL: absent. */
struct arrival_words {
    const char *from; /* address of the connection's other end */
    bool by_tls;      /* of this server: no proxy is between */
    const char *forwarded_for, *forwarded_proto;
    int n_for, n_proto; /* headers of that name */
};

/* HT_DENIED   neither this machine nor a proxy asks, or by http
 * HT_INVALID  a proxy's headers are malformed */
enum ht_status arrival_read(const struct proxies *proxies,
                            const struct arrival_words *words,
                            struct arrival *arrival, struct ht_error *err);

#endif
