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
        gp_add(gp, x, sin(5 * u) + 0.3 * x[2] * x[1]);
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
    const struct acquisition one = {1, {a}, {0.9}}, other = {1, {b}, {1.1}},
                             both = {2, {a, b}, {0.9, 1.1}};
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

int main(void)
{
    algorithms_init();
    RUN(the_logarithm_of_h_is_the_reference);
    RUN(its_far_tail_is_the_reference);
    RUN(the_branches_meet_without_a_step);
    RUN(an_expected_improvement_is_the_reference);
    RUN(two_models_are_averaged_in_the_improvement);
    return check_done();
}
