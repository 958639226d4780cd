/* spacing.h - keeps suggestions apart from pending points.
 *
 * A believed result moves no mean, so where the models are sure of an optimum
 * several pending points would lie at one place and teach the same. A promise
 * is therefore multiplied by 1 - exp(-d^2 / 2w^2), d being the distance to a
 * pending point and w half of its own distance to the nearest result: the
 * points of a batch lie about as far apart as the search has come. */
#ifndef HT_ALGORITHMS_MODEL_SPACING_H
#define HT_ALGORITHMS_MODEL_SPACING_H

#include <stddef.h>

#include "algorithms/model/gp.h"

struct spacing {
    const struct gp *guide; /* borrowed: its lengths are the measure */
    size_t n;
    double *x;    /* owned, a row of coordinates for each pending point */
    double *wide; /* owned; of each 2 w^2, above 0 */
};

/* From the points that the guide has seen and the believed ones. */
void spacing_init(struct spacing *spacing, const struct gp *guide);
/* Frees what it owns; once for each init, or of a struct of zeros. */
void spacing_fini(struct spacing *spacing);

/* The natural logarithm of the product over pending points, at most 0, at x;
 * its slopes by continuous, present coordinates are added to `gradient` unless
 * that is NULL. */
double spacing_log(const struct spacing *spacing, const double x[],
                   double gradient[]);

#endif
