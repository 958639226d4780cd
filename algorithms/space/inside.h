/* inside.h - moves a point that breaks constraints to one that satisfies them.
 *
 * Where what is allowed is a sliver, as x + y + z + ... <= 1 in many
 * dimensions, draws alone hardly meet it. */
#ifndef HT_ALGORITHMS_SPACE_INSIDE_H
#define HT_ALGORITHMS_SPACE_INSIDE_H

#include <stdbool.h>

#include "algorithms/base/rng.h"

struct inside {
    const struct encoding *encoding;
    const struct constraint_set *constraints; /* NULL: all is allowed */
    const double *fill; /* coordinates of what becomes present */
};

/* constraint_set_violation() at a settled row of coordinates. */
double inside_violation(const struct inside *inside, const double x[]);

/* Moves x, coordinate by coordinate, until no constraint is violated; draws
 * at `place`. False when none of the steps led there; x is then anywhere. */
bool inside_reach(const struct inside *inside, const struct rng_place *place,
                  double x[]);

/* Shakes x, which is allowed, within what is allowed: after enough rounds it
 * is anywhere in it with the same chance (Gibbs sampling with the shrinking
 * intervals of Neal, "Slice sampling", 2003). */
void inside_shake(const struct inside *inside, const struct rng_place *place,
                  double x[]);

#endif
