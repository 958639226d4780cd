/* subspace.h - the part of a space whose points have some values given.
 *
 * What exists only beside certain values of a parent needs one of them there:
 * a value given to a child narrows its parent, too. Functions take a NULL part
 * for the whole space. */
#ifndef HT_PROTO_SPACE_SUBSPACE_H
#define HT_PROTO_SPACE_SUBSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/space/space.h"

struct subspace {
    const struct space *space;      /* borrowed */
    struct narrowing {              /* of each parameter */
        size_t n;                   /* 0: it may have any value, or none */
        const struct value *values; /* otherwise it has one of these */
    } * at;
};

/* Makes the part where every parameter has its value in `given`, settled or
 * not; there `absent` means that none is given. It lives in the arena.
 * HT_INVALID  no point has all of them; *at is the parameter, one of those
 *             given, that cannot exist beside the others */
enum ht_status subspace_make(struct arena *arena, const struct space *space,
                             const struct value given[], struct subspace *part,
                             size_t *at, struct ht_error *err);

/* Whether a settled point lies in the part. */
bool subspace_has(const struct subspace *part, const struct value point[]);

/* Writes what every point of the part has: the values that are given, those
 * that they leave no choice of, and constants; the others are absent. True when
 * that is a whole point, so the only one there. */
bool subspace_common(const struct subspace *part, struct value point[]);

/* Moves a point, which has a value in each place, into the part, changing no
 * more than it must, and settles it. Of several values that a parameter may
 * have there, its own decides which it gets. */
void subspace_settle(const struct space *space, const struct subspace *part,
                     struct value point[]);

/* Whether parameter i may have several values there, all of them or some. */
bool subspace_leaves(const struct subspace *part, size_t i);

/* As space_param_levels(), space_param_level() and space_size(), of the part.
 */
uint64_t subspace_levels(const struct space *space, const struct subspace *part,
                         size_t i);
struct value subspace_level(const struct space *space,
                            const struct subspace *part, size_t i, uint64_t j);
uint64_t subspace_size(const struct space *space, const struct subspace *part);

#endif
