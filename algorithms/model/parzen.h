/* parzen.h - the density of points in a space, one coordinate at a time.
 *
 * Each coordinate has a mixture of a kernel around every point's value and one
 * that is as broad as the range, so that nothing is ruled out (the estimator
 * of Bergstra, Bardenet, Bengio and Kegl, "Algorithms for Hyper-Parameter
 * Optimization", 2011). Only points in which a coordinate is present say
 * something of it: so conditions need no separate rule. */
#ifndef HT_ALGORITHMS_MODEL_PARZEN_H
#define HT_ALGORITHMS_MODEL_PARZEN_H

#include <stddef.h>

#include "algorithms/base/rng.h"
#include "algorithms/space/encoding.h"

/* widths is row-major like the points: `dim` numbers for each of n. */
struct parzen {
    const struct encoding *encoding; /* borrowed */
    size_t n;
    const double *const *points; /* borrowed: coordinates of each */
    double *widths;              /* owned: of each point's kernels */
};

/* n may be 0: then every value is as likely as without any knowledge. The
 * array and its points, each of `dim` settled coordinates, must outlive it. */
void parzen_init(struct parzen *parzen, const struct encoding *encoding,
                 size_t n, const double *const points[]);
/* Frees the widths, not the points. */
void parzen_fini(struct parzen *parzen);

/* The logarithm of the density at a settled x, over the coordinates that are
 * present in it; of a level or category, that of its probability. */
double parzen_log_density(const struct parzen *parzen, const double x[]);

/* Draws all `dim` coordinates, which depend on the place alone; the caller
 * settles what has no place. */
void parzen_draw(const struct parzen *parzen, const struct rng_place *place,
                 double x[]);

#endif
