/* sequence.h - points that fill the unit cube evenly, in any dimension.
 *
 * The additive recurrence u_c(i) = frac(shift_c + i g^-(c+1)), where g is the
 * root of g^(dim+1) = g + 1 (Roberts, "The Unreasonable Effectiveness of
 * Quasirandom Sequences", 2018), with a random shift (Cranley and Patterson,
 * 1976). */
#ifndef HT_ALGORITHMS_BASE_SEQUENCE_H
#define HT_ALGORITHMS_BASE_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include "algorithms/base/rng.h"
#include "proto/base/limits.h"

struct sequence {
    size_t dim;
    double step[HT_MAX_PARAMETERS], shift[HT_MAX_PARAMETERS];
};

/* The shift is drawn at `place`. */
void sequence_init(struct sequence *sequence, size_t dim,
                   const struct rng_place *place);
/* Coordinate c of point i, in [0, 1). */
double sequence_at(const struct sequence *sequence, uint64_t i, size_t c);

#endif
