/* prior.h - prior distributions of a model's hyperparameters.
 *
 * Hyperparameters are dim + 2 logarithms: of each coordinate's length, of the
 * signal's variance, of the noise's variance. Values have unit variance. */
#ifndef HT_ALGORITHMS_MODEL_PRIOR_H
#define HT_ALGORITHMS_MODEL_PRIOR_H

#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/limits.h"

enum { HYPER_MAX = HT_MAX_PARAMETERS + 2 };

enum prior {
    /* Log-normal lengths that grow with the root of the dimension (Hvarfner,
     * Hellsten, Nardi, "Vanilla Bayesian Optimization Performs Great in High
     * Dimensions", 2024): assumes little of each of many coordinates. */
    PRIOR_LONG,
    /* Lengths near 1 and little noise, as Optuna's GPSampler has them: quick
     * with few data. Part of the signal is a sum over coordinates. */
    PRIOR_UNIT
};

/* -ln density without its constant; adds its gradient to `gradient`. What was
 * said of the noise takes the place of what the prior believes of it. */
double prior_add(enum prior prior, enum noise noise, size_t dim,
                 const double theta[], double gradient[]);

/* The share of the signal that is a sum over coordinates (kernel.h). */
double prior_apart(enum prior prior);

/* The box that every fit stays in: dim + 2 least and most values. */
void prior_bounds(size_t dim, double low[], double high[]);

/* Where a fit without a better idea begins; `round` 0 is the middle, others
 * are moved by `normal`, dim + 2 standard normal numbers. */
void prior_start(enum prior prior, size_t dim, size_t round,
                 const double normal[], double theta[]);

#endif
