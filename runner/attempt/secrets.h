/* secrets.h - values of secret variables, which only the runner knows.
 *
 * A file is taken from the folder of --secrets, by a plain name, never through
 * a link; a variable is HYPERTUNE_SECRET_NAME of the runner's environment. */
#ifndef HT_RUNNER_ATTEMPT_SECRETS_H
#define HT_RUNNER_ATTEMPT_SECRETS_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

/* Name and value of each, in the arena; a last newline of a file is dropped.
 * HT_PRECONDITION  one is not there; the text names it, never a value */
enum ht_status secrets_find(struct arena *arena, const struct site *site,
                            const struct order *order,
                            char *(*lookup)(const char *name),
                            struct pairs *values, struct ht_error *err);

#endif
