/* space_widen.h - growing an open space by what a trial says of it. */
#ifndef HT_PROTO_SPACE_SPACE_WIDEN_H
#define HT_PROTO_SPACE_SPACE_WIDEN_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/space/space.h"

/* Adds the parameters of `more` that the space lacks, and makes the ranges of
 * the others hold both. *changed tells whether anything was new. The space's
 * parameters are written anew in the arena; unchanged on failure.
 * HT_INVALID  one would change its type or scale, or there would be too many
 */
enum ht_status space_widen(struct arena *arena, struct space *space,
                           const struct space *more, bool *changed,
                           struct ht_error *err);

#endif
