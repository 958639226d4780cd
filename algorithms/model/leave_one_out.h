/* leave_one_out.h - how well a model predicts each result from all others.
 *
 * In closed form, from one inverse (Rasmussen and Williams, "Gaussian
 * Processes for Machine Learning", 5.4.2); hyperparameters stay as they are,
 * the mean m of the process is found anew without the result. */
#ifndef HT_ALGORITHMS_MODEL_LEAVE_ONE_OUT_H
#define HT_ALGORITHMS_MODEL_LEAVE_ONE_OUT_H

#include <stddef.h>

#include "algorithms/model/gp.h"

/* Writes for each of the n_seen points of a conditioned model what it would
 * predict there (noise included) had it not seen it: n_seen means and
 * variances, in the order of gp_add(). */
void leave_one_out(const struct gp *gp, double mean[], double variance[]);

/* Spearman's correlation of what is predicted with what came out: 1 when the
 * model orders any two results rightly, about 0 when it has learned nothing; 0
 * as well when either has only equal values. */
double leave_one_out_ranks(const struct gp *gp);

/* The same of any n pairs; equal numbers share the mean of their ranks. */
double leave_one_out_rank_correlation(size_t n, const double a[],
                                      const double b[]);

#endif
