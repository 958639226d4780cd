/* identity.h - the environment by which a replica knows who it is:
 * proto/README.md section 6. */
#ifndef HT_RUNNER_IDENTITY_H
#define HT_RUNNER_IDENTITY_H

#include <stddef.h>

#include "proto/arena.h"
#include "proto/error.h"
#include "proto/job.h"
#include "runner/order.h"
#include "runner/site.h"

struct variables { /* an environment in the making */
    struct arena *arena;
    size_t n, room;
    struct pair *items;
};

/* Sets or replaces; the strings are borrowed. */
void variables_set(struct variables *variables, const char *name,
                   const char *value);
/* Sets only what is not there yet. */
void variables_default(struct variables *variables, const char *name,
                       const char *value);

struct addresses {
    const char **items; /* host:port of each replica, in the order's order */
};

/* Takes n free ports of 127.0.0.1 from the kernel, all different.
 * HT_IO  it has none to give */
enum ht_status addresses_choose(struct arena *arena, size_t n,
                                struct addresses *addresses,
                                struct ht_error *err);

/* Fills in everything: what the runner passes on and the defaults, over them
 * the user's own variables, over all the replica's identity. */
void identity_set(struct variables *variables, const struct site *site,
                  const struct order *order,
                  const struct replica_order *replica,
                  const struct addresses *addresses, const char *folder);

#endif
