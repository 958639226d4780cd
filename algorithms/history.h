/* history.h - a study's results in their committed order, as models see them.
 */
#ifndef HT_ALGORITHMS_HISTORY_H
#define HT_ALGORITHMS_HISTORY_H

#include <stddef.h>

#include "algorithms/algorithm.h"
#include "algorithms/encoding.h"
#include "algorithms/gp.h"

struct history {
    const struct encoding *encoding; /* borrowed */
    size_t n, cap;
    double *x;         /* owned, a row of coordinates for each */
    double *objective; /* owned; NaN: none came out */
};

void history_init(struct history *history, const struct encoding *encoding);
void history_fini(struct history *history);
void history_add(struct history *history, const struct observation *seen);

/* How many of the first n results have an objective. */
size_t history_feasible(const struct history *history, size_t n);

/* What a model is of. */
enum target {
    /* Warped objectives; a result without one counts as half as bad as the
     * worst. Leaving it out would send the search back to where the
     * objective seems to rise and nothing ever comes out. */
    TARGET_OBJECTIVE,
    TARGET_FEASIBILITY /* 1 of results with an objective, -1 of others */
};

/* A model with room for `extra` more points that has seen the first n results,
 * or, when they are more than `most`, the best two thirds of `most` and the
 * newest for the rest. The caller owns it. */
struct gp *history_model(const struct history *history, enum target target,
                         size_t n, size_t most, size_t extra, bool fits);

#endif
