/* gp.h - Gaussian-process regression on encoded points.
 *
 * A latent function with mean m and Matern-5/2 covariance, seen through noise.
 * m has a standard normal prior and is at its most likely value. Values
 * are near mean 0 and variance 1 (warp.h). Without a base nothing allocates
 * after gp_new(); one thread at a time. */
#ifndef HT_ALGORITHMS_MODEL_GP_H
#define HT_ALGORITHMS_MODEL_GP_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/model/kernel.h"

struct gp;

/* The model of an earlier study below the model of this one.
 *
 * This study's model is then one of residuals: of what its values are beyond
 * the mean of the base. Means add up; of the deviations the geometric mean
 * counts, weighted by how much either has seen (Golovin et al., "Google
 * Vizier", 2017, 3.3), so a base that is wrong is forgotten as results come
 * in. The base may have a base, too: several studies are a stack. */
struct gp_base {
    const struct gp *model; /* borrowed, conditioned */
    const bool *shared;     /* borrowed, by coordinate: the base has it. To
                               the base others are absent from every point */
};

/* The weight of the upper of two models that have seen that many points and
 * have `n_hyper` hyperparameters each, in (0, 1). */
double gp_base_share(size_t n_top, size_t n_base, size_t n_hyper);

/* What the base expects at x. */
double gp_base_mean(const struct gp_base *base, const double x[]);

struct gp {
    struct rows *rows; /* owned: the points seen, then the believed ones */
    const struct gp_base *base; /* what the latent function goes beyond, part of
                                   every prediction; borrowed, set by the owner
                                   before the first point. NULL: nothing */
    size_t cap;
    size_t n_seen; /* points with a value */
    double *y;     /* their values */
    double *below; /* what the base says there; 0 without one */
    double *own;   /* variance of each around its result, beside the noise */

    /* set by gp_condition(), but kernel.apart, which is its owner's: 0 unless
     * set before */
    struct kernel kernel;
    double noise;    /* variance of one value around the latent function */
    double mean;     /* m */
    double *factor;  /* lower Cholesky factor L, rows of `cap` */
    double *weights; /* (K + noise)^-1 (y - below - m); 0 for believed points */
    double *slopes;  /* of the kernel, rows of `cap`; NULL: not kept */
    double log_likelihood; /* of the seen values, with m's prior */
    double *scratch;       /* a batch of covariances */
};

/* Room for `cap` points. `fits` keeps slopes, which a gradient of the
 * likelihood needs. Owned by the caller until gp_free(). */
struct gp *gp_new(const struct encoding *encoding, size_t cap, bool fits);
void gp_free(struct gp *gp); /* accepts NULL */

/* Adds a point (`dim` coordinates, copied) with its value, before
 * gp_condition(); at most `cap`. `own` is the variance of a value that is
 * itself a prediction, 0 of a result. */
void gp_add(struct gp *gp, const double x[], double y, double own);

/* Takes dim + 2 hyperparameters (prior.h) and makes the model answer from the
 * points seen. Believed points are dropped. False when the covariance does not
 * factor; the model then has no answers. Takes time as the cube of the
 * points. */
bool gp_condition(struct gp *gp, const double theta[]);

/* Adds a point as if its value had come out as the mean predicts ("kriging
 * believer": Ginsbourger, Le Riche, Carraro, 2010). No prediction moves, only
 * the variance shrinks. After gp_condition(), not above the capacity. */
void gp_believe(struct gp *gp, const double x[]);

/* The mean of the latent function at x; after gp_condition(). */
double gp_mean(const struct gp *gp, const double x[]);

/* Mean and variance of the latent function, without noise, at m points; `x` is
 * m rows of `dim` coordinates. */
void gp_predict(const struct gp *gp, size_t m, const double x[], double mean[],
                double variance[]);

struct gp_slopes { /* by the continuous, present coordinates; others 0 */
    double mean[HT_MAX_PARAMETERS], variance[HT_MAX_PARAMETERS];
};

/* The same at one point, with derivatives. */
void gp_predict_slopes(const struct gp *gp, const double x[], double *mean,
                       double *variance, struct gp_slopes *slopes);

#endif
