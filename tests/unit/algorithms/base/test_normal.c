#include <math.h>

#include "algorithms/base/normal.h"
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
        const double value = normal_log_h(oracle_number(each, "z"), &slope);
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
    CHECK(oracle_near(normal_log_h(z, &slope), oracle_number(tail, "log_h"),
                      1e-12));
    CHECK(slope == -z);
    cJSON_Delete(all);
}

static void the_branches_meet_without_a_step(void)
{
    static const double seams[] = {-1, -50, -1e6};
    for (size_t i = 0; i < 3; i++) {
        double left_slope, right_slope;
        const double z = seams[i];
        const double left = normal_log_h(nextafter(z, -INFINITY), &left_slope);
        const double right = normal_log_h(nextafter(z, 0), &right_slope);
        CHECK(fabs(left - right) <= 1e-9 * fabs(left));
        CHECK(fabs(left_slope - right_slope) <= 1e-9 * right_slope);
    }
}

static void an_expected_improvement_is_the_reference(void)
{
    cJSON *all;
    const cJSON *posterior = oracle("posterior", &all);
    const double incumbent = oracle_number(posterior, "incumbent");
    const cJSON *each, *cases = cJSON_GetObjectItem(posterior, "tests");
    cJSON_ArrayForEach(each, cases)
    {
        double by_mean, by_variance, mean[2], variance[2], want[2];
        CHECK(oracle_near(normal_log_excess(oracle_number(each, "mean"),
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

/* At the branch, and far out against the asymptotic series
 * phi(z)/-z (1 - 1/z^2 + 3/z^4 - ...). */
static void a_small_chance_keeps_its_logarithm(void)
{
    double slope, above;
    CHECK(oracle_near(normal_log_cdf(0, &slope), -log(2), 1e-15));
    CHECK(oracle_near(slope, sqrt(2 / M_PI), 1e-15));
    CHECK(oracle_near(normal_log_cdf(-5 - 1e-9, &slope),
                      normal_log_cdf(-5 + 1e-9, &above), 1e-8));
    CHECK(oracle_near(slope, above, 1e-8));
    const double z = -200, far = -0.5 * z * z - log(-z * sqrt(2 * M_PI)) +
                                 log1p(-1 / (z * z) + 3 / (z * z * z * z));
    CHECK(oracle_near(normal_log_cdf(z, &slope), far, 1e-12));
    CHECK(oracle_near(slope, -z - 1 / z, 1e-6));
}

int main(void)
{
    RUN(the_logarithm_of_h_is_the_reference);
    RUN(its_far_tail_is_the_reference);
    RUN(the_branches_meet_without_a_step);
    RUN(an_expected_improvement_is_the_reference);
    RUN(a_small_chance_keeps_its_logarithm);
    return check_done();
}
