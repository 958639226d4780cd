/* design.h - the points of a study before there is anything to learn from. */
#ifndef HT_ALGORITHMS_SPACE_DESIGN_H
#define HT_ALGORITHMS_SPACE_DESIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/space/encoding.h"
#include "proto/space/constraint.h"

/* How many trials they are: 5, or where some coordinates may be absent, so that
 * every branch wants points of its own, one more than coordinates up to 10; but
 * not more than a quarter of a small study (0 trials: no limit), at least 3. */
size_t design_size(const struct encoding *encoding, uint64_t max_trials);

/* Point `index`: number 0 has every parameter at its default or in the middle
 * of its range, the others fill the space evenly. What the constraints (NULL:
 * none) forbid is led to what they allow; false when no way was found. */
bool design_point(const struct encoding *encoding,
                  const struct constraint_set *constraints, uint64_t seed,
                  uint64_t index, double x[]);

#endif
