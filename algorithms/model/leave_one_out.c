#include "algorithms/model/leave_one_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cblas.h>

#include "algorithms/base/triangle.h"
#include "proto/base/arena.h"

/* ---- the closed form ---- */

/* Rows of L^-1, n x n; the caller's. */
static double *invert_factor(const struct gp *gp)
{
    const size_t n = gp->n_seen;
    double *inverse = ht_xcalloc(n * n + 1, sizeof *inverse);
    for (size_t i = 0; i < n; i++)
        memcpy(inverse + i * n, gp->factor + i * gp->cap,
               (i + 1) * sizeof *inverse);
    const struct triangle l = {n, n, inverse};
    triangle_invert(&l);
    return inverse;
}

/* m has a normal prior, so values have covariance C = S + 1 1^T and C^-1 (y) =
 * S^-1 (y - m): the model's weights. The diagonal of C^-1 = S^-1 - v v^T /
 * (1 + 1.v) with v = S^-1 1 is that of L^-T L^-1 less a little. */
static void find_precisions(const struct gp *gp, double precision[])
{
    const size_t n = gp->n_seen;
    double *inverse = invert_factor(gp);
    double *ones = ht_xcalloc(2 * n, sizeof *ones), *v = ones + n, all = 1;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i <= k; i++)
            ones[k] += inverse[k * n + i];
    for (size_t k = 0; k < n; k++) {
        all += ones[k] * ones[k];
        for (size_t i = 0; i <= k; i++) {
            const double at = inverse[k * n + i];
            precision[i] += at * at;
            v[i] += at * ones[k];
        }
    }
    for (size_t i = 0; i < n; i++)
        precision[i] -= v[i] * v[i] / all;
    free(ones);
    free(inverse);
}

void leave_one_out(const struct gp *gp, double mean[], double variance[])
{
    const size_t n = gp->n_seen;
    if (n == 0)
        return;
    double *precision = ht_xcalloc(n, sizeof *precision);
    find_precisions(gp, precision);
    for (size_t i = 0; i < n; i++) {
        variance[i] = 1 / precision[i];
        mean[i] = gp->y[i] - gp->weights[i] * variance[i];
    }
    free(precision);
}

/* ---- how good that is ---- */

double leave_one_out_ranks(const struct gp *gp)
{
    const size_t n = gp->n_seen;
    double *mean = ht_xcalloc(2 * n + 1, sizeof *mean);
    leave_one_out(gp, mean, mean + n);
    const double correlation = leave_one_out_rank_correlation(n, mean, gp->y);
    free(mean);
    return correlation;
}

/* Twice the rank of each, from 1 - n to n - 1: how many are below it less how
 * many are above. */
static void centred_ranks(size_t n, const double v[], double ranks[])
{
    for (size_t i = 0; i < n; i++) {
        ranks[i] = 0;
        for (size_t j = 0; j < n; j++)
            ranks[i] += (v[j] < v[i]) - (v[j] > v[i]);
    }
}

double leave_one_out_rank_correlation(size_t n, const double a[],
                                      const double b[])
{
    double *x = ht_xcalloc(2 * n + 1, sizeof *x), *y = x + n;
    centred_ranks(n, a, x);
    centred_ranks(n, b, y);
    const double xx = cblas_ddot((int)n, x, 1, x, 1);
    const double yy = cblas_ddot((int)n, y, 1, y, 1);
    const double xy = cblas_ddot((int)n, x, 1, y, 1);
    free(x);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}
