/* The closed form against models that really never saw the result. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/leave_one_out.h"
#include "tests/check.h"

enum { N = 9 };

static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
};
static const struct space plane = {.n = 2, .params = params};
static const double theta[] = {-1.2, -0.7, 0.3, -4.0};

static void row(size_t i, double x[])
{
    x[0] = fmod(0.5 + 0.7548776662 * (double)i, 1);
    x[1] = fmod(0.5 + 0.5698402910 * (double)i, 1);
}

static double value(size_t i)
{
    double x[2];
    row(i, x);
    return sin(5 * x[0]) - 2 * x[1];
}

/* A model of all points but one; `without` N: of all. The third value is
 * itself a prediction. */
static struct gp *model(const struct encoding *encoding, size_t without)
{
    struct gp *gp = gp_new(encoding, N, false);
    for (size_t i = 0; i < N; i++) {
        double x[2];
        row(i, x);
        if (i != without)
            gp_add(gp, x, value(i), i == 2 ? 0.3 : 0);
    }
    CHECK(gp_condition(gp, theta));
    return gp;
}

/* What it says of a value at x, its mean m being uncertain too: m is known to
 * 1 / (1 + 1.S^-1 1), and shifts a prediction by 1 - k.S^-1 1. */
static void foretell(const struct gp *gp, const double x[], double *mean,
                     double *variance)
{
    double k[N], ones[N], solved[N];
    kernel_row(&gp->kernel, gp->rows, x, gp->n_seen, k, NULL);
    for (size_t i = 0; i < gp->n_seen; i++)
        ones[i] = solved[i] = 1;
    for (size_t i = 0; i < gp->n_seen; i++) {
        for (size_t j = 0; j < i; j++)
            solved[i] -= gp->factor[i * gp->cap + j] * solved[j];
        solved[i] /= gp->factor[i * gp->cap + i];
    }
    for (size_t i = gp->n_seen; i-- > 0;) {
        for (size_t j = i + 1; j < gp->n_seen; j++)
            solved[i] -= gp->factor[j * gp->cap + i] * solved[j];
        solved[i] /= gp->factor[i * gp->cap + i];
    }
    double all = 1, shift = 1;
    for (size_t i = 0; i < gp->n_seen; i++) {
        all += ones[i] * solved[i];
        shift -= k[i] * solved[i];
    }
    gp_predict(gp, 1, x, mean, variance);
    *variance += gp->noise + shift * shift / all;
}

static void what_it_foretells_is_that_of_models_that_never_saw(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &plane);
    struct gp *all = model(&encoding, N);
    double mean[N], variance[N];
    leave_one_out(all, mean, variance);
    for (size_t i = 0; i < N; i++) {
        struct gp *others = model(&encoding, i);
        double x[2], want_mean, want_variance;
        row(i, x);
        foretell(others, x, &want_mean, &want_variance);
        want_variance += i == 2 ? 0.3 : 0;
        CHECK(fabs(mean[i] - want_mean) < 1e-9);
        CHECK(fabs(variance[i] - want_variance) < 1e-9);
        gp_free(others);
    }
    gp_free(all);
    encoding_fini(&encoding);
}

static void a_fitting_model_ranks_what_it_has_not_seen(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &plane);
    struct gp *gp = model(&encoding, N);
    CHECK(leave_one_out_ranks(gp) > 0.6);
    gp_free(gp);
    encoding_fini(&encoding);
}

static void ranks_correlate_whatever_the_distances(void)
{
    static const double up[] = {1, 2, 3, 1e300}, down[] = {9, 8, 0, -1};
    static const double same[] = {5, 5, 5, 5}, tied[] = {1, 1, 2, 3};
    CHECK(leave_one_out_rank_correlation(4, up, up) == 1);
    CHECK(leave_one_out_rank_correlation(4, up, down) == -1);
    CHECK(leave_one_out_rank_correlation(4, up, same) == 0);
    CHECK(leave_one_out_rank_correlation(0, up, up) == 0);
    /* as scipy.stats.spearmanr */
    CHECK(fabs(leave_one_out_rank_correlation(4, up, tied) -
               0.9486832980505138) < 1e-15);
}

int main(void)
{
    algorithm_init();
    RUN(what_it_foretells_is_that_of_models_that_never_saw);
    RUN(a_fitting_model_ranks_what_it_has_not_seen);
    RUN(ranks_correlate_whatever_the_distances);
    return check_done();
}
