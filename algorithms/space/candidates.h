/* candidates.h - where the search for the most promising point begins: points
 * spread over the whole space, and small steps away from the best known ones.
 */
#ifndef HT_ALGORITHMS_SPACE_CANDIDATES_H
#define HT_ALGORITHMS_SPACE_CANDIDATES_H

#include <stddef.h>
#include <stdint.h>

#include "algorithms/space/encoding.h"
#include "proto/space/constraint.h"

enum {
    CANDIDATES_MAX = 2048,
    CANDIDATES_KNOWN = 5 /* best known points that are stepped from */
};

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

#endif
