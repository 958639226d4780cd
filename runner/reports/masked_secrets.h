/* masked_secrets.h - values of secrets that no log may show.
 *
 * A value is hidden line by line, so that a key file of many lines is hidden
 * whichever of them is printed. Lines below HIDDEN_LEAST bytes are too common
 * to be hidden. */
#ifndef HT_RUNNER_REPORTS_MASKED_SECRETS_H
#define HT_RUNNER_REPORTS_MASKED_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "runner/base/order.h"

enum { MASKED_LEAST = 8, MASKED_MOST = 16 * 1024 }; /* bytes of one piece */

struct masked_secrets { /* zeroed: nothing is hidden */
    size_t n;
    char **pieces; /* owned */
    bool loaded;
};

/* Takes the values that the replica was given, from its launch.json: a secret
 * that was changed since is not what its trainer prints. From `credentials`,
 * the attempt's copy if there is one, it takes the keys. Does nothing when they
 * were taken already, or as long as there is no launch.json. */
void masked_secrets_load(struct masked_secrets *secrets,
                         const struct order *order, const char *replica_folder,
                         const char *credentials);
void masked_secrets_fini(struct masked_secrets *secrets);

/* How many of the bytes can be shown before the next come: nothing hidden is
 * cut, be it complete or maybe begun. */
size_t masked_secrets_whole(const struct masked_secrets *secrets,
                            const char *bytes, size_t len);
/* Writes "***" over what is hidden, in place; returns the new length, which is
 * never more. */
size_t masked_secrets_blank(const struct masked_secrets *secrets, char *bytes,
                            size_t len);

#endif
