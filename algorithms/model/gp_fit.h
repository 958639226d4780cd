/* gp_fit.h - the most likely hyperparameters of a model. */
#ifndef HT_ALGORITHMS_MODEL_GP_FIT_H
#define HT_ALGORITHMS_MODEL_GP_FIT_H

#include <stdint.h>

#include "algorithms/model/gp.h"
#include "algorithms/model/prior.h"

struct gp_fit; /* the workspace of fits to one set of points */

/* Works on the points seen by `gp`, which must have been made for fits and
 * outlive it. Owned by the caller until gp_fit_free(). */
struct gp_fit *gp_fit_new(struct gp *gp, enum prior prior);
/* Takes into account what the study's owner said of the noise. */
void gp_fit_expect(struct gp_fit *fit, enum noise noise);
void gp_fit_free(struct gp_fit *fit); /* accepts NULL */

/* The negative log posterior density of theta (dim + 2 numbers) up to a
 * constant, and its gradient, as many; infinite where the covariance does not
 * factor, and then the gradient is not written. Leaves the gp conditioned on
 * theta. */
double gp_fit_evaluate(struct gp_fit *fit, const double theta[],
                       double gradient[]);

/* Improves theta in place, in at most `iterations` steps; returns its value,
 * infinite when no covariance factored. */
double gp_fit_improve(struct gp_fit *fit, size_t iterations, double theta[]);

/* A fit from nothing: round 0 begins in the middle of what is believed, where
 * others begin is decided by the seed. Returns as above. */
double gp_fit_start(struct gp_fit *fit, uint64_t seed, size_t round,
                    double theta[]);

/* The best of the first `starts` >= 1 of them; returns as above. */
double gp_fit_find(struct gp_fit *fit, uint64_t seed, size_t starts,
                   double theta[]);

#endif
