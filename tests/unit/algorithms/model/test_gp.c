/* The model against numbers from SciPy. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/base/algorithm.h"

#include "algorithms/base/lbfgs.h"
#include "algorithms/model/gp.h"
#include "algorithms/model/gp_fit.h"
#include "tests/check.h"
#include "tests/lib/oracles.h"

/* A number, a number that needs a switch, five levels, three categories. */
static const char *const names[] = {"a", "b", "c"};
static const struct value on[] = {{.whole = 0}, {.whole = 2}};
static struct condition when_on = {.parent = 3, .n = 2, .values = on};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1, .when = &when_on},
    {.name = "k",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 5,
     .int_step = 1},
    {.name = "c", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
};
static const struct space space = {.n = 4, .params = params};
static struct param line_param = {.name = "x", .type = PARAM_DOUBLE, .max = 1};
static const struct space line = {.n = 1, .params = &line_param};

/* A row of the file; null is absent. */
static void read_row(const cJSON *row, double x[])
{
    size_t c = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, row)
    {
        x[c++] = cJSON_IsNumber(item) ? item->valuedouble : COORDINATE_ABSENT;
    }
}

static void oracle_theta(const cJSON *oracles, double theta[])
{
    CHECK(oracle_numbers(oracles, "lengthscale", 4, theta) == 4);
    for (size_t c = 0; c < 4; c++)
        theta[c] = log(theta[c]);
    theta[4] = log(oracle_number(oracles, "sf2"));
    theta[5] = log(oracle_number(oracles, "sn2"));
}

/* The model of the file's "gp" with room for `extra` believed points. */
static struct gp *oracle_gp(const cJSON *oracles,
                            const struct encoding *encoding, size_t extra,
                            double theta[])
{
    double y[6], x[4];
    CHECK(oracle_numbers(oracles, "y", 6, y) == 6);
    struct gp *gp = gp_new(encoding, 6 + extra, true);
    const cJSON *row,
        *rows = cJSON_GetObjectItem(oracles, "X_null_is_inactive");
    cJSON_ArrayForEach(row, rows)
    {
        read_row(row, x);
        gp_add(gp, x, y[gp->n_seen], 0);
    }
    oracle_theta(oracles, theta);
    CHECK(gp_condition(gp, theta));
    return gp;
}

static void the_kernel_is_the_reference(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &line);
    cJSON *all;
    const cJSON *each, *cases = oracle("matern52", &all);
    cJSON_ArrayForEach(each, cases)
    {
        const struct kernel kernel = {.weight = {oracle_number(each, "r2")},
                                      .signal = 1};
        const double zero = 0, one = 1;
        struct rows *rows = kernel_rows_new(&encoding, 1);
        double k, slope, plain;
        kernel_rows_add(rows, &zero);
        kernel_row(&kernel, rows, &one, 1, &k, &slope);
        kernel_row(&kernel, rows, &one, 1, &plain, NULL);
        const double want = oracle_number(each, "k");
        const double down = oracle_number(each, "dk_dr2");
        CHECK(fabs(k - want) <= 1e-12 * want);
        CHECK(fabs(plain - want) <= 1e-12 * want);
        CHECK(fabs(slope / -2 - down) <= 1e-12 * fabs(down));
        kernel_rows_free(rows);
    }
    cJSON_Delete(all);
    encoding_fini(&encoding);
}

static void the_exponential_keeps_its_digits_over_its_whole_range(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &line);
    struct rows *rows = kernel_rows_new(&encoding, 1);
    const double zero = 0, one = 1;
    kernel_rows_add(rows, &zero);
    for (double s = 0; s < 690; s += 0.37) {
        const struct kernel kernel = {.weight = {s * s / 5}, .signal = 1};
        const double root = sqrt(5 * kernel.weight[0]);
        double k;
        kernel_row(&kernel, rows, &one, 1, &k, NULL);
        const double want = (1 + root + root * root / 3) * exp(-root);
        CHECK(fabs(k - want) <= 2e-15 * want);
    }
    kernel_rows_free(rows);
    encoding_fini(&encoding);
}

static void a_mixed_covariance_and_its_posterior_are_the_reference(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    cJSON *all;
    const cJSON *oracles = oracle("gp", &all);
    double theta[6], want[6], x[4], k[6];
    struct gp *gp = oracle_gp(oracles, &encoding, 0, theta);
    const cJSON *row, *rows = cJSON_GetObjectItem(oracles, "K_noise_free");
    size_t i = 0;
    cJSON_ArrayForEach(row, rows)
    {
        kernel_rows_get(gp->rows, i++, x);
        kernel_row(&gp->kernel, gp->rows, x, 6, k, NULL);
        for (int j = 0; j < 6; j++)
            CHECK(oracle_near(k[j], cJSON_GetArrayItem(row, j)->valuedouble,
                              1e-12));
    }
    CHECK(i == 6);
    CHECK(oracle_near(gp->mean, oracle_number(oracles, "mean_map"), 1e-12));
    oracle_numbers(oracles, "chol_diag", 6, want);
    for (i = 0; i < 6; i++)
        CHECK(oracle_near(gp->factor[i * gp->cap + i], want[i], 1e-12));
    oracle_numbers(oracles, "alpha", 6, want);
    for (i = 0; i < 6; i++)
        CHECK(oracle_near(gp->weights[i], want[i], 1e-9));
    CHECK(oracle_near(-gp->log_likelihood,
                      oracle_number(oracles, "neg_log_lik_plus_mean_penalty"),
                      1e-9));
    gp_free(gp);
    cJSON_Delete(all);
    encoding_fini(&encoding);
}

static void check_density(const char *name, enum prior prior)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    cJSON *all, *same;
    const cJSON *oracles = oracle("gp", &all), *wanted = oracle(name, &same);
    double theta[6], gradient[6], want[6];
    struct gp *gp = oracle_gp(oracles, &encoding, 0, theta);
    struct gp_fit *fit = gp_fit_new(gp, prior);
    CHECK(oracle_near(gp_fit_evaluate(fit, theta, gradient),
                      oracle_number(wanted, "neg_log_posterior"), 1e-9));
    CHECK(oracle_numbers(wanted, "grad", 6, want) == 6);
    for (size_t i = 0; i < 6; i++)
        CHECK(oracle_near(gradient[i], want[i], 1e-9));
    gp_fit_free(fit);
    gp_free(gp);
    cJSON_Delete(all);
    cJSON_Delete(same);
    encoding_fini(&encoding);
}

static void the_density_and_its_gradient_are_the_reference(void)
{
    check_density("gp", PRIOR_LONG);
    check_density("gp_P2", PRIOR_UNIT);
}

static void predictions_and_their_slopes_are_the_reference(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    cJSON *all, *same;
    const cJSON *oracles = oracle("gp", &all);
    const cJSON *posterior = oracle("posterior", &same);
    double theta[6], want[6], x[4], mean, variance;
    struct gp *gp = oracle_gp(oracles, &encoding, 0, theta);
    oracle_numbers(posterior, "posterior_mean_at_X", 6, want);
    for (size_t i = 0; i < 6; i++) {
        kernel_rows_get(gp->rows, i, x);
        CHECK(oracle_near(gp_mean(gp, x), want[i], 1e-9));
    }
    const cJSON *each, *cases = cJSON_GetObjectItem(posterior, "tests");
    cJSON_ArrayForEach(each, cases)
    {
        struct gp_slopes slopes;
        read_row(cJSON_GetObjectItem(each, "x"), x);
        gp_predict(gp, 1, x, &mean, &variance);
        CHECK(oracle_near(mean, oracle_number(each, "mean"), 1e-9));
        CHECK(oracle_near(variance, oracle_number(each, "var"), 1e-9));
        gp_predict_slopes(gp, x, &mean, &variance, &slopes);
        CHECK(oracle_near(mean, oracle_number(each, "mean"), 1e-9));
        CHECK(oracle_near(variance, oracle_number(each, "var"), 1e-9));
        CHECK(oracle_numbers(each, "dmean_dx0_dx1", 2, want) == 2);
        for (size_t c = 0; c < 2; c++)
            CHECK(oracle_near(slopes.mean[c], want[c], 1e-9));
        CHECK(oracle_numbers(each, "dvar_dx0_dx1", 2, want) == 2);
        for (size_t c = 0; c < 2; c++)
            CHECK(oracle_near(slopes.variance[c], want[c], 1e-9));
        CHECK(slopes.mean[2] == 0 && slopes.variance[3] == 0);
    }
    gp_free(gp);
    cJSON_Delete(all);
    cJSON_Delete(same);
    encoding_fini(&encoding);
}

static void a_believed_point_is_the_references_next_row(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    cJSON *all, *same;
    const cJSON *oracles = oracle("gp", &all);
    const cJSON *append = oracle("chol_append", &same);
    double theta[6], want[6], x[4], mean, variance, before, between[4];
    struct gp *gp = oracle_gp(oracles, &encoding, 1, theta);
    read_row(cJSON_GetObjectItem(append, "x"), x);
    memcpy(between, x, sizeof x);
    between[0] = 0.7;
    before = gp_mean(gp, between);
    gp_predict(gp, 1, x, &mean, &variance);
    gp_believe(gp, x);
    CHECK(oracle_numbers(append, "row", 6, want) == 6);
    for (size_t i = 0; i < 6; i++)
        CHECK(oracle_near(gp->factor[6 * gp->cap + i], want[i], 1e-12));
    CHECK(oracle_near(gp->factor[6 * gp->cap + 6],
                      oracle_number(append, "diag"), 1e-12));
    /* One more value with noise s: 1/v' = 1/v + 1/s. */
    double now_mean, now_variance;
    gp_predict(gp, 1, x, &now_mean, &now_variance);
    CHECK(oracle_near(now_mean, mean, 1e-14));
    CHECK(oracle_near(1 / now_variance, 1 / variance + 1 / gp->noise, 1e-9));
    CHECK(gp_mean(gp, between) == before);
    gp_free(gp);
    cJSON_Delete(all);
    cJSON_Delete(same);
    encoding_fini(&encoding);
}

static double density(void *context, const double x[], double gradient[])
{
    return gp_fit_evaluate(context, x, gradient);
}

static void the_most_likely_hyperparameters_are_the_reference(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &line);
    cJSON *all;
    const cJSON *oracles = oracle("map_1d", &all);
    double x[7], y[7], want[3], theta[3], low[3], high[3];
    oracle_numbers(oracles, "x", 7, x);
    oracle_numbers(oracles, "y_standardised", 7, y);
    oracle_numbers(oracles, "theta_map", 3, want);
    struct gp *gp = gp_new(&encoding, 7, true);
    for (size_t i = 0; i < 7; i++)
        gp_add(gp, &x[i], y[i], 0);
    struct gp_fit *fit = gp_fit_new(gp, PRIOR_LONG);
    double value = gp_fit_find(fit, 1, 2, theta);
    CHECK(oracle_near(value, oracle_number(oracles, "value"), 1e-4));
    prior_bounds(1, low, high);
    const struct lbfgs problem = {.n = 3,
                                  .low = low,
                                  .high = high,
                                  .evaluate = density,
                                  .context = fit,
                                  .iterations = 100,
                                  .gradient_tolerance = 1e-9};
    value = lbfgs_minimise(&problem, theta);
    CHECK(oracle_near(value, oracle_number(oracles, "value"), 1e-6));
    for (size_t i = 0; i < 3; i++)
        CHECK(fabs(theta[i] - want[i]) < 1e-3);
    gp_fit_free(fit);
    gp_free(gp);
    cJSON_Delete(all);
    encoding_fini(&encoding);
}

static void a_share_of_the_signal_is_a_sum_over_coordinates(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    /* like but for a number, a category and being present */
    const double from[] = {0.1, 0.3, 0.5, 1};
    const double to[] = {0.4, COORDINATE_ABSENT, 0.5, 2};
    const struct kernel whole = {.weight = {2, 3, 5, 7}, .signal = 1};
    struct kernel kernel = whole;
    struct rows *rows = kernel_rows_new(&encoding, 1);
    double k, alone;
    kernel.apart = 0.25;
    kernel.signal = 3;
    kernel_rows_add(rows, from);
    kernel_row(&whole, rows, to, 1, &alone, NULL);
    kernel_row(&kernel, rows, to, 1, &k, NULL);
    const double sum = 1 / 1.09 + 1 / (1 + 1.5 * (0.04 + 0.25)) + 1 + 1 / 4.5;
    CHECK(fabs(k - 3 * (0.75 * alone + 0.25 * sum / 4)) < 1e-14);
    kernel_row(&kernel, rows, from, 1, &k, NULL);
    CHECK(fabs(k - 3) < 1e-14);
    kernel_rows_free(rows);
    encoding_fini(&encoding);
}

/* A model of 300 rows, which are more than a block of the kernel's. */
static struct gp *large_gp(const struct encoding *encoding, double apart)
{
    enum { N = 300 };
    struct gp *gp = gp_new(encoding, N, true);
    gp->kernel.apart = apart;
    for (size_t i = 0; i < N; i++) {
        const double u = (double)i / N;
        double x[4] = {fmod(u * 7.3, 1), fmod(u * 11.9, 1),
                       0.1 + 0.2 * (double)(i % 5), (double)(i % 3)};
        if (i % 3 == 1)
            x[1] = COORDINATE_ABSENT;
        gp_add(gp, x, sin(9 * x[0]) + x[2] + (i % 3 == 0 ? x[1] : 0.3), 0);
    }
    return gp;
}

static void the_gradient_is_that_of_differences(double apart)
{
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *gp = large_gp(&encoding, apart);
    struct gp_fit *fit = gp_fit_new(gp, PRIOR_LONG);
    double theta[6] = {-1, -0.5, 0.2, 0.4, 0.1, -4}, gradient[6], other[6];
    CHECK(isfinite(gp_fit_evaluate(fit, theta, gradient)));
    for (size_t i = 0; i < 6; i++) {
        const double h = 1e-5, at = theta[i];
        theta[i] = at + h;
        const double above = gp_fit_evaluate(fit, theta, other);
        theta[i] = at - h;
        const double below = gp_fit_evaluate(fit, theta, other);
        theta[i] = at;
        CHECK(oracle_near(gradient[i], (above - below) / (2 * h), 1e-6));
    }
    gp_fit_free(fit);
    gp_free(gp);
    encoding_fini(&encoding);
}

static void the_gradient_is_that_of_differences_beyond_one_block(void)
{
    the_gradient_is_that_of_differences(0);
    the_gradient_is_that_of_differences(0.3);
}

static void slopes_are_those_of_differences_with_a_sum_in_the_signal(void)
{
    static const double theta[6] = {-1, -0.5, 0.2, 0.4, 0.1, -4};
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *gp = large_gp(&encoding, 0.3);
    double x[4] = {0.31, 0.62, 0.5, 2}, mean, variance;
    struct gp_slopes slopes;
    CHECK(gp_condition(gp, theta));
    gp_predict_slopes(gp, x, &mean, &variance, &slopes);
    for (size_t c = 0; c < 2; c++) {
        const double h = 1e-5, at = x[c];
        double above[2], below[2];
        x[c] = at + h;
        gp_predict(gp, 1, x, &above[0], &above[1]);
        x[c] = at - h;
        gp_predict(gp, 1, x, &below[0], &below[1]);
        x[c] = at;
        CHECK(
            oracle_near(slopes.mean[c], (above[0] - below[0]) / (2 * h), 1e-6));
        CHECK(oracle_near(slopes.variance[c], (above[1] - below[1]) / (2 * h),
                          1e-6));
    }
    gp_free(gp);
    encoding_fini(&encoding);
}

static void equal_points_with_different_values_are_a_model(void)
{
    struct encoding encoding;
    encoding_init(&encoding, &line);
    struct gp *gp = gp_new(&encoding, 40, true);
    const double x = 0.5;
    for (size_t i = 0; i < 40; i++)
        gp_add(gp, &x, i % 2 == 0 ? 1 : -1, 0);
    struct gp_fit *fit = gp_fit_new(gp, PRIOR_UNIT);
    double theta[3], mean, variance;
    CHECK(isfinite(gp_fit_find(fit, 1, 2, theta)));
    CHECK(gp_condition(gp, theta));
    gp_predict(gp, 1, &x, &mean, &variance);
    CHECK(fabs(mean) < 1e-6);
    CHECK(variance > 0 && variance < 0.2);
    gp_fit_free(fit);
    gp_free(gp);
    encoding_fini(&encoding);
}

int main(void)
{
    algorithm_init();
    RUN(the_kernel_is_the_reference);
    RUN(the_exponential_keeps_its_digits_over_its_whole_range);
    RUN(a_mixed_covariance_and_its_posterior_are_the_reference);
    RUN(the_density_and_its_gradient_are_the_reference);
    RUN(predictions_and_their_slopes_are_the_reference);
    RUN(a_believed_point_is_the_references_next_row);
    RUN(the_most_likely_hyperparameters_are_the_reference);
    RUN(a_share_of_the_signal_is_a_sum_over_coordinates);
    RUN(the_gradient_is_that_of_differences_beyond_one_block);
    RUN(slopes_are_those_of_differences_with_a_sum_in_the_signal);
    RUN(equal_points_with_different_values_are_a_model);
    return check_done();
}
