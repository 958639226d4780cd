/* rules.h - what the admin of a runner allows trials beyond the defaults.
 *
 * --allow takes names from this list, separated by commas:
 *   privileged host-network host-pid engine-socket networks (any existing one)
 *   root-capabilities (keeps the capabilities that are dropped otherwise) */
#ifndef HT_RUNNER_BASE_RULES_H
#define HT_RUNNER_BASE_RULES_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

#define RULES_NAMES                                                            \
    "privileged, host-network, host-pid, engine-socket, networks, "            \
    "root-capabilities"

/* Splits the value of --allow into names, in the arena; blanks around them and
 * empty ones are dropped.
 * HT_INVALID  a name is not in the list, or there are more than 64 */
enum ht_status rules_read(struct arena *arena, const char *text,
                          struct strings *allowed, struct ht_error *err);
/* Whether --allow has that name; false for a name that is not in the list. */
bool rules_allow(const struct site *site, const char *name);

/* Absolute real paths of folders that are separated by commas, in the arena;
 * `flag` names them in errors.
 * HT_INVALID  one is no folder of this machine */
enum ht_status rules_folders(struct arena *arena, const char *flag,
                             const char *text, struct strings *folders,
                             struct ht_error *err);

/* Whether all that the order asks for is allowed: network, pid space,
 * privileges, names of variables and images, user.
 * HT_PRECONDITION  something is not; the text names the field */
enum ht_status rules_check(const struct site *site, const struct order *order,
                           struct ht_error *err);

#endif
