/* acquisition.h - how much a point promises: the logarithm of the expected
 * improvement on the best known mean, times the chance that a result comes
 * out at all.
 *
 * Logarithms because the improvement itself underflows where a search still
 * needs slopes (Ament et al., "Unexpected Improvements to Expected
 * Improvement", 2023). Several models are averaged in the improvement, not in
 * its logarithm. */
#ifndef HT_ALGORITHMS_ACQUISITION_H
#define HT_ALGORITHMS_ACQUISITION_H

#include <stddef.h>

#include "algorithms/gp.h"

enum { ACQUISITION_MODELS = 2 };

struct acquisition {
    size_t n; /* models */
    const struct gp *models[ACQUISITION_MODELS];
    double incumbents[ACQUISITION_MODELS]; /* what to improve on */
    const struct gp *feasibility; /* of 1 and -1; NULL: nothing fails */
};

/* ln(phi(z) + z Phi(z)) of the standard normal density and distribution, and
 * its slope. Exact to rounding for every z. */
double acquisition_log_h(double z, double *slope);

/* ln E[max(f - incumbent, 0)] of a normal f, and its slopes. */
double acquisition_log_ei(double mean, double variance, double incumbent,
                          double *by_mean, double *by_variance);

/* ln Phi(z) of the standard normal distribution, and its slope. */
double acquisition_log_cdf(double z, double *slope);

/* The promise of m points, `x` holding a row for each. */
void acquisition_values(const struct acquisition *acquisition, size_t m,
                        const double x[], double values[]);

/* The promise of one point, with its gradient by the continuous, present
 * coordinates; 0 by others. */
double acquisition_value(const struct acquisition *acquisition,
                         const double x[], double gradient[]);

#endif
