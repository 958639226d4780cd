/* replica_env.h - the environment of a replica: proto/README.md section 6. */
#ifndef HT_RUNNER_ATTEMPT_REPLICA_ENV_H
#define HT_RUNNER_ATTEMPT_REPLICA_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/base/credentials.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

struct variables { /* an environment being built */
    struct arena *arena;
    size_t n;
    struct pair *items;
    bool lacks_job; /* it is too long for CLUSTER_SPEC and TF_CONFIG */
};

/* NULL: it is not set. */
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

/* The path of its credentials in the replica; NULL: it has none. */
const char *replica_env_credentials(const struct replica_env *env);

/* Sets all variables: the user's override those of the image or machine and the
 * defaults, those that identify the replica override all. */
void replica_env_set(struct variables *variables,
                     const struct replica_env *env);

/* ---- the values of secrets, which only the runner has ----
 *
 * A file is taken from the folder of --secrets, by a plain name, never through
 * a link; a variable is HYPERTUNE_SECRET_NAME of the runner's environment. */

/* Name and value of each, in the arena; a last newline of a file is dropped.
 * HT_PRECONDITION  one is missing; the text has its name, never a value */
enum ht_status replica_env_secrets(struct arena *arena, const struct site *site,
                                   const struct order *order,
                                   char *(*lookup)(const char *name),
                                   struct pairs *values, struct ht_error *err);

#endif
