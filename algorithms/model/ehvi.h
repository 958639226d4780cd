/* ehvi.h - how much a result is expected to add to the volume that the best
 * known ones dominate; with one objective, to the best value.
 *
 * With one and with two objectives exact for independent normal beliefs: the
 * undominated space is cut into boxes, and each contributes the product over
 * objectives of E[max(f - low, 0)] - E[max(f - high, 0)]. With more objectives,
 * with two every other time, and when boxes are too many, the volume is
 * measured along one ray from the reference in a random direction, another one
 * for each suggestion (Deng and Zhang, "Approximating hypervolume and
 * hypervolume contributions using polar coordinate", 2019): what a result adds
 * there is cut into pieces, each gained with the chance to reach its corner. So
 * a search of many objectives comes to all parts of the front by turns. */
#ifndef HT_ALGORITHMS_MODEL_EHVI_H
#define HT_ALGORITHMS_MODEL_EHVI_H

#include <stddef.h>

#include "algorithms/base/rng.h"
#include "algorithms/model/hypervolume.h"
#include "algorithms/model/pareto.h"

struct ehvi_factor { /* of a product: its logarithm and the slopes of that */
    double log, by_mean, by_variance;
};

/* Owned are also rooms for one evaluation, so one thread at a time. */
struct ehvi {
    size_t m;                          /* objectives */
    struct boxes boxes;                /* none when a ray is used */
    double direction[SETTING_METRICS]; /* of the ray, of length 1 */
    size_t n_corners;                  /* on it; 0 when boxes are used */
    double *corners; /* owned, m coordinates and ln of the gain of each */
    size_t first[SETTING_METRICS]; /* of each objective's edges in excess */
    struct ehvi_factor *excess;    /* owned, of edges */
    double *terms;                 /* owned, of boxes or corners */
};

/* From the best known values and the reference, of front->m values, which they
 * should be above. Both are read only here. `place` is where the direction of
 * a ray is drawn, and its ordinal decides whether there is one. */
void ehvi_init(struct ehvi *ehvi, const struct pareto *front,
               const double reference[], const struct rng_place *place);
/* Frees what it owns; once for each init. */
void ehvi_fini(struct ehvi *ehvi);

/* How far values above the reference reach along a direction; 0 when they are
 * not above it. */
double ehvi_reach(size_t m, const double values[], const double reference[],
                  const double direction[]);

/* The natural logarithm of the gain, or of m times the volume's along a ray,
 * for normal beliefs of m objectives (mean[m], variance[m]). The m slopes by
 * their means and variances are written unless NULL. */
double ehvi_log(const struct ehvi *ehvi, const double mean[],
                const double variance[], double by_mean[],
                double by_variance[]);

#endif
