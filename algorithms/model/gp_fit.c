#include "algorithms/model/gp_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cblas.h>

#include "algorithms/base/lbfgs.h"
#include "algorithms/base/rng.h"
#include "algorithms/base/triangle.h"
#include "proto/base/arena.h"

/* Hyperparameters closer than this make no difference to a suggestion. */
static const double gradient_tolerance = 1e-2, value_tolerance = 1e-6;
enum { COLD_ITERATIONS = 50 };
_Static_assert(HYPER_MAX <= (int)LBFGS_MAX, "a fit has too many coordinates");

struct gp_fit {
    struct gp *gp;
    enum prior prior;
    enum noise noise;
    double *inverse;   /* of the covariance, rows of the capacity */
    double *by_length; /* of one row */
};

struct gp_fit *gp_fit_new(struct gp *gp, enum prior prior)
{
    struct gp_fit *fit = ht_xcalloc(1, sizeof *fit);
    fit->gp = gp;
    fit->prior = prior;
    fit->inverse = ht_xcalloc(gp->cap * gp->cap, sizeof *fit->inverse);
    fit->by_length = ht_xcalloc(gp->cap, sizeof *fit->by_length);
    return fit;
}

void gp_fit_expect(struct gp_fit *fit, enum noise noise)
{
    fit->noise = noise;
}

void gp_fit_free(struct gp_fit *fit)
{
    if (fit == NULL)
        return;
    free(fit->inverse);
    free(fit->by_length);
    free(fit);
}

/* ---- the gradient ---- */

static bool invert(struct gp_fit *fit)
{
    const struct gp *gp = fit->gp;
    for (size_t i = 0; i < gp->n_seen; i++)
        memcpy(fit->inverse + i * gp->cap, gp->factor + i * gp->cap,
               (i + 1) * sizeof *fit->inverse);
    const struct triangle inverse = {gp->n_seen, gp->cap, fit->inverse};
    return triangle_invert_product(&inverse);
}

/* Adds row i's part of sum_{j<i} W_ij dk_ij/dln(length_c), for every c, where
 * W = S^-1 - a a^T takes the place of the inverse. */
static void add_row(struct gp_fit *fit, size_t i, double gradient[])
{
    const struct gp *gp = fit->gp;
    double x[HT_MAX_PARAMETERS];
    double *row = fit->inverse + i * gp->cap;
    const struct kernel_slopes shared = {&gp->kernel, gp->rows, x, i,
                                         gp->slopes + i * gp->cap};
    cblas_daxpy((int)i, -gp->weights[i], gp->weights, 1, row, 1);
    kernel_rows_get(gp->rows, i, x);
    for (size_t c = 0; c < gp->rows->encoding->dim; c++) {
        kernel_by_length(&shared, c, fit->by_length);
        gradient[c] += cblas_ddot((int)i, row, 1, fit->by_length, 1);
    }
}

/* By lengths from the pairs. By noise: 1/2 noise tr W. By signal: S = K +
 * noise I gives tr(W K) = tr(W S) - noise tr W and tr(W S) = n - a.(S a),
 * where S a = y - m. */
static void find_gradient(struct gp_fit *fit, double gradient[])
{
    const struct gp *gp = fit->gp;
    const size_t n = gp->n_seen, dim = gp->rows->encoding->dim;
    double trace = 0, explained = 0;
    for (size_t i = 0; i < n; i++) {
        trace +=
            fit->inverse[i * gp->cap + i] - gp->weights[i] * gp->weights[i];
        explained += gp->weights[i] * (gp->y[i] - gp->below[i] - gp->mean);
    }
    memset(gradient, 0, dim * sizeof *gradient);
    for (size_t i = 0; i < n; i++)
        add_row(fit, i, gradient);
    gradient[dim] = 0.5 * ((double)n - explained - gp->noise * trace);
    gradient[dim + 1] = 0.5 * gp->noise * trace;
}

double gp_fit_evaluate(struct gp_fit *fit, const double theta[],
                       double gradient[])
{
    if (!gp_condition(fit->gp, theta) || !invert(fit))
        return INFINITY;
    find_gradient(fit, gradient);
    return -fit->gp->log_likelihood + prior_add(fit->prior, fit->noise,
                                                fit->gp->rows->encoding->dim,
                                                theta, gradient);
}

/* ---- the search ---- */

static double evaluate(void *context, const double x[], double gradient[])
{
    return gp_fit_evaluate(context, x, gradient);
}

double gp_fit_improve(struct gp_fit *fit, size_t iterations, double theta[])
{
    const size_t dim = fit->gp->rows->encoding->dim;
    double low[HYPER_MAX], high[HYPER_MAX];
    prior_bounds(dim, low, high);
    const struct lbfgs problem = {.n = dim + 2,
                                  .low = low,
                                  .high = high,
                                  .evaluate = evaluate,
                                  .context = fit,
                                  .iterations = iterations,
                                  .gradient_tolerance = gradient_tolerance,
                                  .value_tolerance = value_tolerance};
    return lbfgs_minimise(&problem, theta);
}

double gp_fit_start(struct gp_fit *fit, uint64_t seed, size_t round,
                    double theta[])
{
    const size_t n = fit->gp->rows->encoding->dim + 2;
    const struct rng_place place = {seed, round, 0};
    double normal[HYPER_MAX];
    for (size_t i = 0; i < n; i++)
        normal[i] = rng_normal(&place, i);
    prior_start(fit->prior, n - 2, round, normal, theta);
    return gp_fit_improve(fit, COLD_ITERATIONS, theta);
}

double gp_fit_find(struct gp_fit *fit, uint64_t seed, size_t starts,
                   double theta[])
{
    const size_t n = fit->gp->rows->encoding->dim + 2;
    double best = INFINITY, other[HYPER_MAX];
    for (size_t round = 0; round < starts; round++) {
        const double value = gp_fit_start(fit, seed, round, other);
        if (round > 0 && !(value < best))
            continue;
        best = value;
        memcpy(theta, other, n * sizeof *theta);
    }
    return best;
}
