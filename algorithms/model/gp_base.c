#include "algorithms/model/gp_base.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/model/gp.h"
#include "proto/base/arena.h"

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
    double at[HT_MAX_PARAMETERS];
    project(base, x, at);
    return gp_mean(base->model, at);
}

void gp_base_predict(const struct gp *top, size_t m, const double x[],
                     double mean[], double variance[])
{
    const size_t dim = top->rows->encoding->dim;
    const double share = share_of(top);
    double *at = ht_xcalloc(m * (dim + 2) + 1, sizeof *at);
    double *base_mean = at + m * dim, *base_variance = base_mean + m;
    for (size_t j = 0; j < m; j++)
        project(top->base, x + j * dim, at + j * dim);
    gp_predict(top->base->model, m, at, base_mean, base_variance);
    for (size_t j = 0; j < m; j++) {
        mean[j] += base_mean[j];
        variance[j] =
            pow(variance[j], share) * pow(base_variance[j], 1 - share);
    }
    free(at);
}

/* ln v = share ln v_top + (1 - share) ln v_base, and so its slopes. */
void gp_base_slopes(const struct gp *top, const double x[], double *mean,
                    double *variance, struct gp_slopes *slopes)
{
    const double share = share_of(top);
    double at[HT_MAX_PARAMETERS], base_mean, base_variance;
    struct gp_slopes below;
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
