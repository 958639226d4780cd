#include <math.h>

#include "algorithms/acquisition.h"
#include "algorithms/algorithm.h"
#include "tests/check.h"
#include "tests/lib/oracles.h"

static void the_logarithm_of_h_is_the_reference(void)
{
    cJSON *all;
    const cJSON *each, *cases = oracle("log_h", &all);
    int n = 0;
    cJSON_ArrayForEach(each, cases)
    {
        double slope;
        const double value =
            acquisition_log_h(oracle_number(each, "z"), &slope);
        CHECK(oracle_near(value, oracle_number(each, "log_h"), 1e-12));
        const double want = oracle_number(each, "dlog_h");
        CHECK(fabs(slope - want) <= 1e-10 * fabs(want));
        n++;
    }
    CHECK(n == 17);
    cJSON_Delete(all);
}

static void its_far_tail_is_the_reference(void)
{
    cJSON *all;
    const cJSON *tail = oracle("log_h_asymptotic", &all);
    const double z = oracle_number(tail, "z");
    double slope;
    CHECK(oracle_near(acquisition_log_h(z, &slope),
                      oracle_number(tail, "log_h"), 1e-12));
    CHECK(slope == -z);
    cJSON_Delete(all);
}

static void the_branches_meet_without_a_step(void)
{
    static const double seams[] = {-1, -50, -1e6};
    for (size_t i = 0; i < 3; i++) {
        double left_slope, right_slope;
        const double z = seams[i];
        const double left =
            acquisition_log_h(nextafter(z, -INFINITY), &left_slope);
        const double right = acquisition_log_h(nextafter(z, 0), &right_slope);
        CHECK(fabs(left - right) <= 1e-9 * fabs(left));
        CHECK(fabs(left_slope - right_slope) <= 1e-9 * right_slope);
    }
}

static const char *const names[] = {"a", "b", "c"};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "c", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
};
static const struct space space = {3, params};

static void an_expected_improvement_is_the_reference(void)
{
    cJSON *all;
    const cJSON *posterior = oracle("posterior", &all);
    const double incumbent = oracle_number(posterior, "incumbent");
    const cJSON *each, *cases = cJSON_GetObjectItem(posterior, "tests");
    cJSON_ArrayForEach(each, cases)
    {
        double by_mean, by_variance, mean[2], variance[2], want[2];
        CHECK(oracle_near(acquisition_log_ei(oracle_number(each, "mean"),
                                             oracle_number(each, "var"),
                                             incumbent, &by_mean, &by_variance),
                          oracle_number(each, "logEI"), 1e-9));
        oracle_numbers(each, "dmean_dx0_dx1", 2, mean);
        oracle_numbers(each, "dvar_dx0_dx1", 2, variance);
        oracle_numbers(each, "dlogEI_dx0_dx1", 2, want);
        for (size_t c = 0; c < 2; c++)
            CHECK(oracle_near(by_mean * mean[c] + by_variance * variance[c],
                              want[c], 1e-9));
    }
    cJSON_Delete(all);
}

static struct gp *some_model(const struct encoding *encoding,
                             const double theta[])
{
    struct gp *gp = gp_new(encoding, 20, false);
    for (size_t i = 0; i < 20; i++) {
        const double u = (double)i / 20;
        const double x[] = {u, fmod(7.7 * u, 1), (double)(i % 3)};
        gp_add(gp, x, sin(5 * u) + 0.3 * x[2] * x[1], 0);
    }
    CHECK(gp_condition(gp, theta));
    return gp;
}

static void two_models_are_averaged_in_the_improvement(void)
{
    static const double smooth[] = {0, 0.3, 1, 0, -4};
    static const double rough[] = {-1.5, -1, 0, 0.5, -6};
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *a = some_model(&encoding, smooth);
    struct gp *b = some_model(&encoding, rough);
    const struct acquisition one = {1, {a}, {0.9}, NULL},
                             other = {1, {b}, {1.1}, NULL},
                             both = {2, {a, b}, {0.9, 1.1}, NULL};
    for (size_t i = 0; i < 30; i++) {
        double x[] = {0.017 + 0.03 * (double)i, 0.4, (double)(i % 3)};
        double gradient[3], unused[3], value, of[2];
        acquisition_values(&one, 1, x, &of[0]);
        acquisition_values(&other, 1, x, &of[1]);
        acquisition_values(&both, 1, x, &value);
        CHECK(oracle_near(exp(value), (exp(of[0]) + exp(of[1])) / 2, 1e-12));
        CHECK(oracle_near(acquisition_value(&both, x, gradient), value, 1e-9));
        CHECK(gradient[2] == 0);
        for (size_t c = 0; c < 2; c++) {
            const double h = 1e-6, at = x[c];
            x[c] = at + h;
            const double above = acquisition_value(&both, x, unused);
            x[c] = at - h;
            const double below = acquisition_value(&both, x, unused);
            x[c] = at;
            CHECK(oracle_near(gradient[c], (above - below) / (2 * h), 1e-5));
        }
    }
    gp_free(a);
    gp_free(b);
    encoding_fini(&encoding);
}

static void the_chance_of_a_result_multiplies_the_improvement(void)
{
    static const double smooth[] = {0, 0.3, 1, 0, -4};
    struct encoding encoding;
    encoding_init(&encoding, &space);
    struct gp *gp = some_model(&encoding, smooth);
    struct gp *feasibility = gp_new(&encoding, 10, false);
    for (size_t i = 0; i < 10; i++) {
        const double x[] = {(double)i / 10, 0.5, (double)(i % 3)};
        gp_add(feasibility, x, i < 5 ? 1 : -1, 0);
    }
    CHECK(gp_condition(feasibility, smooth));
    const struct acquisition without = {1, {gp}, {0.9}, NULL},
                             with = {1, {gp}, {0.9}, feasibility};
    for (size_t i = 0; i < 30; i++) {
        double x[] = {0.017 + 0.03 * (double)i, 0.4, (double)(i % 3)};
        double gradient[3], unused[3], value, alone, mean, variance;
        acquisition_values(&with, 1, x, &value);
        acquisition_values(&without, 1, x, &alone);
        gp_predict(feasibility, 1, x, &mean, &variance);
        const double z = mean / sqrt(variance + feasibility->noise);
        CHECK(
            oracle_near(exp(value - alone), 0.5 * erfc(-z * M_SQRT1_2), 1e-9));
        CHECK(oracle_near(acquisition_value(&with, x, gradient), value, 1e-9));
        for (size_t c = 0; c < 2; c++) {
            const double h = 1e-6, at = x[c];
            x[c] = at + h;
            const double above = acquisition_value(&with, x, unused);
            x[c] = at - h;
            const double below = acquisition_value(&with, x, unused);
            x[c] = at;
            CHECK(oracle_near(gradient[c], (above - below) / (2 * h), 1e-5));
        }
    }
    gp_free(gp);
    gp_free(feasibility);
    encoding_fini(&encoding);
}

/* At the branch, and far out against the asymptotic series
 * phi(z)/-z (1 - 1/z^2 + 3/z^4 - ...). */
static void a_small_chance_keeps_its_logarithm(void)
{
    double slope, above;
    CHECK(oracle_near(acquisition_log_cdf(0, &slope), -log(2), 1e-15));
    CHECK(oracle_near(slope, sqrt(2 / M_PI), 1e-15));
    CHECK(oracle_near(acquisition_log_cdf(-5 - 1e-9, &slope),
                      acquisition_log_cdf(-5 + 1e-9, &above), 1e-8));
    CHECK(oracle_near(slope, above, 1e-8));
    const double z = -200, far = -0.5 * z * z - log(-z * sqrt(2 * M_PI)) +
                                 log1p(-1 / (z * z) + 3 / (z * z * z * z));
    CHECK(oracle_near(acquisition_log_cdf(z, &slope), far, 1e-12));
    CHECK(oracle_near(slope, -z - 1 / z, 1e-6));
}

int main(void)
{
    algorithms_init();
    RUN(the_logarithm_of_h_is_the_reference);
    RUN(its_far_tail_is_the_reference);
    RUN(the_branches_meet_without_a_step);
    RUN(an_expected_improvement_is_the_reference);
    RUN(two_models_are_averaged_in_the_improvement);
    RUN(the_chance_of_a_result_multiplies_the_improvement);
    RUN(a_small_chance_keeps_its_logarithm);
    return check_done();
}
