/* replica_env.h - the environment by which a replica knows who it is:
 * proto/README.md section 6. */
#ifndef HT_RUNNER_ATTEMPT_REPLICA_ENV_H
#define HT_RUNNER_ATTEMPT_REPLICA_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/strings.h"
#include "runner/base/credentials.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

struct variables { /* an environment in the making */
    struct arena *arena;
    size_t n, room;
    struct pair *items;
    bool lacks_job; /* it is too long for CLUSTER_SPEC and TF_CONFIG */
};

/* NULL: it is not there. */
const char *replica_env_find(const struct variables *variables,
                             const char *name);

/* One replica and where it is. */
struct replica_env {
    const struct site *site;
    const struct order *order;
    const struct placement *placement;
    size_t replica; /* which of the order's */
    const struct replica_view *view;
    const struct pairs *secrets; /* variables and their values */
    struct credentials credentials;
};

/* The file of its credentials as the replica sees it; NULL: it has none. */
const char *replica_env_credentials(const struct replica_env *env);

/* Fills in everything: what is there anyway and the defaults, over them the
 * user's own variables, over all what tells the replica who it is. */
void replica_env_set(struct variables *variables,
                     const struct replica_env *env);

/* ---- the values of secrets, which only the runner knows ----
 *
 * A file is taken from the folder of --secrets, by a plain name, never through
 * a link; a variable is HYPERTUNE_SECRET_NAME of the runner's environment. */

/* Name and value of each, in the arena; a last newline of a file is dropped.
 * HT_PRECONDITION  one is not there; the text names it, never a value */
enum ht_status replica_env_secrets(struct arena *arena, const struct site *site,
                                   const struct order *order,
                                   char *(*lookup)(const char *name),
                                   struct pairs *values, struct ht_error *err);

#endif
