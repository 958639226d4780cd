/* ehvi.h - how much a result is expected to add to the volume that the best
 * known ones dominate; with one objective, to the best value.
 *
 * Exact for independent normal beliefs as long as the undominated space falls
 * into few boxes: each contributes the product over objectives of
 * E[max(f - low, 0)] - E[max(f - high, 0)]. Otherwise, with many objectives or
 * a long front, rays from the reference through random directions measure the
 * volume (Deng and Zhang, "Approximating hypervolume and hypervolume
 * contributions using polar coordinate", 2019), and what a result adds along
 * one is cut into pieces, each gained with the chance to reach its corner. */
#ifndef HT_ALGORITHMS_EHVI_H
#define HT_ALGORITHMS_EHVI_H

#include <stddef.h>

#include "algorithms/hypervolume.h"
#include "algorithms/pareto.h"
#include "algorithms/rng.h"

struct ehvi_factor { /* of a product: its logarithm and the slopes of that */
    double log, by_mean, by_variance;
};

/* Owned are also rooms for one evaluation, so one thread at a time. */
struct ehvi {
    size_t m;           /* objectives */
    struct boxes boxes; /* none when rays are used */
    size_t n_corners;   /* of rays; 0 when boxes are used */
    double *corners;    /* owned, m coordinates and ln of the gain of each */
    size_t first[SETTING_METRICS]; /* of each objective's edges in excess */
    struct ehvi_factor *excess;    /* owned, of edges */
    double *terms;                 /* owned, of boxes or corners */
};

/* From the best known values and the reference, which they should be above.
 * `place` is where directions of rays are drawn. */
void ehvi_init(struct ehvi *ehvi, const struct pareto *front,
               const double reference[], const struct rng_place *place);
void ehvi_fini(struct ehvi *ehvi);

/* The logarithm of the gain for normal beliefs of m objectives. The slopes by
 * their means and variances are written unless NULL. */
double ehvi_log(const struct ehvi *ehvi, const double mean[],
                const double variance[], double by_mean[],
                double by_variance[]);

#endif
