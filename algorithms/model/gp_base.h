/* gp_base.h - the model of an earlier study below the model of this one.
 *
 * This study's model is then one of residuals: of what its values are beyond
 * the mean of the base. Means add up; of the deviations the geometric mean
 * counts, weighted by how much either has seen (Golovin et al., "Google
 * Vizier", 2017, 3.3), so a base that is wrong is forgotten as results come
 * in. The base may have a base of its own: several studies are a stack. */
#ifndef HT_ALGORITHMS_MODEL_GP_BASE_H
#define HT_ALGORITHMS_MODEL_GP_BASE_H

#include <stdbool.h>
#include <stddef.h>

struct gp;
struct gp_slopes;

struct gp_base {
    const struct gp *model; /* borrowed, conditioned */
    const bool *shared;     /* borrowed, by coordinate: the base knows it. To
                               the base others are absent from every point */
};

/* The weight of the upper of two models that have seen that many points and
 * have `n_hyper` hyperparameters each, in (0, 1). */
double gp_base_share(size_t n_top, size_t n_base, size_t n_hyper);

/* What the base expects at x. */
double gp_base_mean(const struct gp_base *base, const double x[]);

/* Puts the base below the predictions of `top` at m points; `x` holds a row of
 * coordinates for each. */
void gp_base_predict(const struct gp *top, size_t m, const double x[],
                     double mean[], double variance[]);
/* The same at one point, with derivatives. */
void gp_base_slopes(const struct gp *top, const double x[], double *mean,
                    double *variance, struct gp_slopes *slopes);

#endif
