#include "algorithms/model/gp.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cblas.h>

#include "algorithms/base/triangle.h"
#include "proto/base/arena.h"

enum { BATCH = 128 }; /* points predicted at a time */

/* Rounding can make the variance at a known point a little negative. */
static const double least_variance = 1e-12;

/* ---- the base ---- */

/* Degrees of freedom that n points leave to a model with h hyperparameters;
 * a little even where there are fewer points than those. */
static double freedom(size_t n, size_t h)
{
    return fmax((double)n - (double)h, (double)n / (1 + (double)h));
}

double gp_base_share(size_t n_top, size_t n_base, size_t n_hyper)
{
    const double top = freedom(n_top, n_hyper), base = freedom(n_base, n_hyper);
    const double odds = top / base * (base + 2);
    return odds / (1 + odds);
}

static double share_of(const struct gp *top)
{
    return gp_base_share(top->n_seen, top->base->model->n_seen,
                         top->rows->encoding->dim + 2);
}

static void project(const struct gp_base *base, const double x[], double at[])
{
    for (size_t c = 0; c < base->model->rows->encoding->dim; c++)
        at[c] = base->shared[c] ? x[c] : COORDINATE_ABSENT;
}

double gp_base_mean(const struct gp_base *base, const double x[])
{
    double at[HT_MAX_PARAMETERS] = {0};
    project(base, x, at);
    return gp_mean(base->model, at);
}

/* Puts the base below the predictions of `top` at m points. */
static void base_predict(const struct gp *top, size_t m, const double x[],
                         double mean[], double variance[])
{
    const size_t dim = top->rows->encoding->dim;
    const double share = share_of(top);
    double *at = ht_xcalloc(m * (dim + 2) + 1, sizeof *at);
    double *below = at + m * dim, *base_variance = below + m;
    for (size_t j = 0; j < m; j++)
        project(top->base, x + j * dim, at + j * dim);
    gp_predict(top->base->model, m, at, below, base_variance);
    for (size_t j = 0; j < m; j++) {
        mean[j] += below[j];
        variance[j] =
            pow(variance[j], share) * pow(base_variance[j], 1 - share);
    }
    free(at);
}

/* The same at one point: ln v = share ln v_top + (1 - share) ln v_base, and so
 * its slopes. */
static void base_slopes(const struct gp *top, const double x[], double *mean,
                        double *variance, struct gp_slopes *slopes)
{
    const double share = share_of(top);
    double at[HT_MAX_PARAMETERS] = {0}, base_mean, base_variance;
    struct gp_slopes below = {0};
    project(top->base, x, at);
    gp_predict_slopes(top->base->model, at, &base_mean, &base_variance, &below);
    const double both = pow(*variance, share) * pow(base_variance, 1 - share);
    for (size_t c = 0; c < top->rows->encoding->dim; c++) {
        slopes->mean[c] += below.mean[c];
        slopes->variance[c] =
            both * (share * slopes->variance[c] / *variance +
                    (1 - share) * below.variance[c] / base_variance);
    }
    *mean += base_mean;
    *variance = both;
}

/* ---- life ---- */

struct gp *gp_new(const struct encoding *encoding, size_t cap, bool fits)
{
    struct gp *gp = ht_xcalloc(1, sizeof *gp);
    cap = cap == 0 ? 1 : cap;
    gp->cap = cap;
    gp->rows = kernel_rows_new(encoding, cap);
    gp->y = ht_xcalloc(cap, sizeof *gp->y);
    gp->below = ht_xcalloc(cap, sizeof *gp->below);
    gp->own = ht_xcalloc(cap, sizeof *gp->own);
    gp->factor = ht_xcalloc(cap * cap, sizeof *gp->factor);
    gp->weights = ht_xcalloc(cap, sizeof *gp->weights);
    gp->scratch = ht_xcalloc(cap * BATCH, sizeof *gp->scratch);
    if (fits)
        gp->slopes = ht_xcalloc(cap * cap, sizeof *gp->slopes);
    return gp;
}

void gp_free(struct gp *gp)
{
    if (gp == NULL)
        return;
    kernel_rows_free(gp->rows);
    free(gp->y);
    free(gp->below);
    free(gp->own);
    free(gp->factor);
    free(gp->weights);
    free(gp->slopes);
    free(gp->scratch);
    free(gp);
}

void gp_add(struct gp *gp, const double x[], double y, double own)
{
    kernel_rows_add(gp->rows, x);
    gp->below[gp->n_seen] = gp->base == NULL ? 0 : gp_base_mean(gp->base, x);
    gp->own[gp->n_seen] = own;
    gp->y[gp->n_seen++] = y;
}

/* ---- conditioning ---- */

static void set_kernel(struct gp *gp, const double theta[])
{
    const size_t dim = gp->rows->encoding->dim;
    for (size_t c = 0; c < dim; c++)
        gp->kernel.weight[c] = exp(-2 * theta[c]);
    gp->kernel.signal = exp(theta[dim]);
    gp->noise = exp(theta[dim + 1]);
}

static void fill_covariance(struct gp *gp)
{
    double x[HT_MAX_PARAMETERS];
    for (size_t i = 0; i < gp->n_seen; i++) {
        double *row = gp->factor + i * gp->cap;
        kernel_rows_get(gp->rows, i, x);
        kernel_row(&gp->kernel, gp->rows, x, i, row,
                   gp->slopes == NULL ? NULL : gp->slopes + i * gp->cap);
        row[i] = gp->kernel.signal + gp->noise + gp->own[i];
    }
}

/* The first n rows of the factor. */
static struct triangle factor_of(const struct gp *gp, size_t n)
{
    return (struct triangle){n, gp->cap, gp->factor};
}

/* With a = L^-1 y and o = L^-1 1 the most likely mean under its prior N(0, 1)
 * is m = o.a / (1 + o.o); the weights are L^-T (a - m o). */
static void find_weights(struct gp *gp)
{
    const size_t n = gp->n_seen;
    const struct triangle factor = factor_of(gp, n);
    double *a = gp->weights, *ones = gp->scratch;
    for (size_t i = 0; i < n; i++) {
        a[i] = gp->y[i] - gp->below[i];
        ones[i] = 1;
    }
    triangle_solve(&factor, a);
    triangle_solve(&factor, ones);
    gp->mean = cblas_ddot((int)n, ones, 1, a, 1) /
               (1 + cblas_ddot((int)n, ones, 1, ones, 1));
    cblas_daxpy((int)n, -gp->mean, ones, 1, a, 1);
    double log_root = 0;
    for (size_t i = 0; i < n; i++)
        log_root += log(gp->factor[i * gp->cap + i]);
    gp->log_likelihood = -0.5 * cblas_ddot((int)n, a, 1, a, 1) - log_root -
                         0.5 * (double)n * log(2 * M_PI) -
                         0.5 * gp->mean * gp->mean;
    triangle_solve_transposed(&factor, a);
}

bool gp_condition(struct gp *gp, const double theta[])
{
    set_kernel(gp, theta);
    gp->rows->n = gp->n_seen;
    fill_covariance(gp);
    const struct triangle covariance = factor_of(gp, gp->n_seen);
    if (!triangle_factor(&covariance))
        return false;
    find_weights(gp);
    return isfinite(gp->log_likelihood) != 0;
}

void gp_believe(struct gp *gp, const double x[])
{
    const size_t n = gp->rows->n;
    const struct triangle factor = factor_of(gp, n);
    double *row = gp->factor + n * gp->cap;
    kernel_row(&gp->kernel, gp->rows, x, n, row, NULL);
    triangle_solve(&factor, row);
    const double left =
        gp->kernel.signal + gp->noise - cblas_ddot((int)n, row, 1, row, 1);
    row[n] = sqrt(fmax(left, least_variance));
    gp->weights[n] = 0;
    kernel_rows_add(gp->rows, x);
}

/* ---- predictions ---- */

double gp_mean(const struct gp *gp, const double x[])
{
    double *k = gp->scratch;
    const size_t n = gp->n_seen;
    kernel_row(&gp->kernel, gp->rows, x, n, k, NULL);
    const double mean = gp->mean + cblas_ddot((int)n, gp->weights, 1, k, 1);
    return gp->base == NULL ? mean : mean + gp_base_mean(gp->base, x);
}

/* Covariances of each point as rows, then one triangular solve for all. */
static void predict_batch(const struct gp *gp, size_t m, const double x[],
                          double mean[], double variance[])
{
    const size_t n = gp->rows->n, dim = gp->rows->encoding->dim;
    const struct triangle factor = factor_of(gp, n);
    double *rows = gp->scratch;
    for (size_t j = 0; j < m; j++) {
        double *k = rows + j * n;
        kernel_row(&gp->kernel, gp->rows, x + j * dim, n, k, NULL);
        mean[j] = gp->mean + cblas_ddot((int)n, gp->weights, 1, k, 1);
    }
    triangle_solve_rows(&factor, m, rows);
    for (size_t j = 0; j < m; j++) {
        const double *v = rows + j * n;
        const double known = cblas_ddot((int)n, v, 1, v, 1);
        variance[j] = fmax(gp->kernel.signal - known, least_variance);
    }
}

void gp_predict(const struct gp *gp, size_t m, const double x[], double mean[],
                double variance[])
{
    const size_t dim = gp->rows->encoding->dim;
    for (size_t from = 0; from < m; from += BATCH) {
        const size_t len = m - from < BATCH ? m - from : BATCH;
        predict_batch(gp, len, x + from * dim, mean + from, variance + from);
    }
    if (gp->base != NULL)
        base_predict(gp, m, x, mean, variance);
}

/* With v = S^-1 k: dmean = weights . dk, dvariance = -2 v . dk. */
void gp_predict_slopes(const struct gp *gp, const double x[], double *mean,
                       double *variance, struct gp_slopes *slopes)
{
    const struct encoding *encoding = gp->rows->encoding;
    const size_t n = gp->rows->n;
    const struct triangle factor = factor_of(gp, n);
    double *v = gp->scratch, *slope = v + gp->cap, *dk = slope + gp->cap;
    const struct kernel_slopes shared = {&gp->kernel, gp->rows, x, n, slope};
    kernel_row(&gp->kernel, gp->rows, x, n, v, slope);
    *mean = gp->mean + cblas_ddot((int)n, gp->weights, 1, v, 1);
    triangle_solve(&factor, v);
    *variance = fmax(gp->kernel.signal - cblas_ddot((int)n, v, 1, v, 1),
                     least_variance);
    triangle_solve_transposed(&factor, v);
    for (size_t c = 0; c < encoding->dim; c++) {
        slopes->mean[c] = slopes->variance[c] = 0;
        if (encoding->at[c].kind != COORDINATE_CONTINUOUS ||
            x[c] == COORDINATE_ABSENT)
            continue;
        kernel_by_place(&shared, c, dk);
        slopes->mean[c] = cblas_ddot((int)n, gp->weights, 1, dk, 1);
        slopes->variance[c] = -2 * cblas_ddot((int)n, v, 1, dk, 1);
    }
    if (gp->base != NULL)
        base_slopes(gp, x, mean, variance, slopes);
}
