/* candidates.h - points to choose from: a study's first ones, before there is
 * anything to learn from; then points spread over the whole space, and small
 * steps away from the best known ones, where the search for the most promising
 * one begins. */
#ifndef HT_ALGORITHMS_SPACE_CANDIDATES_H
#define HT_ALGORITHMS_SPACE_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/space/encoding.h"
#include "proto/space/constraint.h"

enum {
    CANDIDATES_MAX = 2048,
    CANDIDATES_KNOWN = 5 /* best known points that are stepped from */
};

/* Rows, as x and known[i], are the encoding's `dim` coordinates. */
struct candidates {
    const struct encoding *encoding; /* of the part where points may be */
    uint64_t seed, ordinal;          /* where random numbers are addressed */
    const double *fill;              /* coordinates of what becomes present */
    const struct constraint_set *constraints; /* NULL: all is allowed */
    size_t n_known;                           /* at most CANDIDATES_KNOWN */
    double known[CANDIDATES_KNOWN][HT_MAX_PARAMETERS]; /* best first */
};

/* Writes at most CANDIDATES_MAX settled rows that the constraints allow to x;
 * returns how many. */
size_t candidates_fill(const struct candidates *candidates, double x[]);

/* How many trials a study's design has: 5, or where some coordinates may be
 * absent, so that every branch needs own points, one more than
 * coordinates up to 10; but not more than a quarter of a small study (0 trials:
 * no limit), at least 3. */
size_t candidates_design_size(const struct encoding *encoding,
                              uint64_t max_trials);

/* Point `index` of it: number 0 has every parameter at its default or in the
 * middle of its range, the others fill the space evenly. What the constraints
 * (NULL: none) forbid is led to what they allow; false when no way was found.
 */
bool candidates_design_point(const struct encoding *encoding,
                             const struct constraint_set *constraints,
                             uint64_t seed, uint64_t index, double x[]);

#endif
