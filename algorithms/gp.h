/* gp.h - Gaussian-process regression on encoded points.
 *
 * A latent function with mean m and Matern-5/2 covariance, seen through noise.
 * m has a standard normal prior and stands at its most likely value. Values
 * are near mean 0 and variance 1 (warp.h). Nothing allocates after gp_new();
 * one thread at a time. */
#ifndef HT_ALGORITHMS_GP_H
#define HT_ALGORITHMS_GP_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/kernel.h"
#include "algorithms/prior.h"
#include "proto/error.h"

enum { GP_FANTASIES = 8 }; /* at most */

struct gp {
    struct rows *rows; /* owned: the points seen, then the believed ones */
    size_t cap;
    size_t n_seen; /* points with a value */
    double *y;     /* their values */

    /* set by gp_condition() */
    struct kernel kernel;
    double noise;       /* variance of one value around the latent function */
    double mean;        /* m */
    double *factor;     /* lower Cholesky factor L, rows of `cap` */
    double *weights;    /* (K + noise)^-1 (y - m); 0 for believed points */
    size_t n_fantasies; /* 0: none but what is believed */
    double *fantasies;  /* their weights, rows of `cap` */
    double *slopes;     /* of the kernel, rows of `cap`; NULL: not kept */
    double log_likelihood; /* of the seen values, with m's prior */
    double *scratch;       /* a batch of covariances */
};

/* Room for `cap` points. `fits` keeps slopes, which a gradient of the
 * likelihood needs. Owned by the caller until gp_free(). */
struct gp *gp_new(const struct encoding *encoding, size_t cap, bool fits);
void gp_free(struct gp *gp); /* accepts NULL */

/* Adds a point with its value, before gp_condition(). */
void gp_add(struct gp *gp, const double x[], double y);

/* Takes hyperparameters (prior.h) and makes the model answer from the points
 * seen. False when the covariance does not factor; the model then has no
 * answers. */
bool gp_condition(struct gp *gp, const double theta[]);

/* Adds a point as if its value had come out as the mean predicts ("kriging
 * believer": Ginsbourger, Le Riche, Carraro, 2010). No prediction moves, only
 * the variance shrinks. After gp_condition(), not above the capacity. */
void gp_believe(struct gp *gp, const double x[]);

/* Replaces what is believed of the p believed points by n possible sets of
 * values, drawn together from the prediction, n <= GP_FANTASIES: set s from the
 * standard normal numbers normal[s * p ...]. All share one factor, so each
 * costs little more than its own means. After the last gp_believe(). */
void gp_fantasise(struct gp *gp, size_t n, const double normal[]);

/* How many means there are of a point: one for each fantasy, else one. */
size_t gp_means(const struct gp *gp);

/* The mean of the latent function at x, in fantasy s < gp_means(). */
double gp_mean(const struct gp *gp, size_t s, const double x[]);

/* Mean and variance of the latent function at m points, `x` holding a row of
 * coordinates for each; fantasy s has its means at mean[s * m ...]. */
void gp_predict(const struct gp *gp, size_t m, const double x[], double mean[],
                double variance[]);

struct gp_slopes { /* by the continuous, present coordinates; others 0 */
    double mean[GP_FANTASIES][HT_MAX_PARAMETERS], variance[HT_MAX_PARAMETERS];
};

/* The same at one point, with derivatives; gp_means() means. */
void gp_predict_slopes(const struct gp *gp, const double x[], double mean[],
                       double *variance, struct gp_slopes *slopes);

#endif
