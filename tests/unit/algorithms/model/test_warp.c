#include <float.h>
#include <math.h>

#include "algorithms/model/warp.h"
#include "tests/check.h"
#include "tests/lib/oracles.h"

static void the_half_rank_is_the_reference(void)
{
    cJSON *all;
    const cJSON *oracles = oracle("halfrank", &all);
    double y[9], want[9];
    CHECK(oracle_numbers(oracles, "y_maximise", 9, y) == 9);
    CHECK(oracle_numbers(oracles, "halfrank", 9, want) == 9);
    struct warping warping;
    warp_init(&warping, 9, y);
    for (size_t i = 0; i < 9; i++) {
        double got = y[i];
        for (size_t k = 0; k < warping.n_low; k++)
            if (warping.low[k] == y[i])
                got = warping.low_ranks[k];
        CHECK(oracle_near(got, want[i], 1e-9));
    }
    warp_fini(&warping);
    cJSON_Delete(all);
}

static void the_power_transform_is_the_reference(void)
{
    cJSON *all;
    const cJSON *oracles = oracle("yeo_johnson", &all);
    double y[10], want[10];
    CHECK(oracle_numbers(oracles, "y", 10, y) == 10);
    CHECK(oracle_numbers(oracles, "standardised", 10, want) == 10);
    double mean, spread;
    warp_standardise(10, y, &mean, &spread);
    for (size_t i = 0; i < 10; i++)
        CHECK(oracle_near(y[i], want[i], 1e-12));
    const double lambda = oracle_number(oracles, "lambda_mle");
    CHECK(fabs(warp_power_fit(10, y) - lambda) < 1e-6);
    CHECK(oracle_numbers(oracles, "z", 10, want) == 10);
    for (size_t i = 0; i < 10; i++)
        CHECK(oracle_near(y[i] = warp_power(y[i], lambda), want[i], 1e-9));
    CHECK(oracle_numbers(oracles, "standardised_z", 10, want) == 10);
    warp_standardise(10, y, &mean, &spread);
    for (size_t i = 0; i < 10; i++)
        CHECK(oracle_near(y[i], want[i], 1e-9));
    cJSON_Delete(all);
}

static void its_logarithms_are_limits_of_its_powers(void)
{
    CHECK(warp_power(3, 0) == log(4));
    CHECK(warp_power(-3, 2) == -log(4));
    CHECK(fabs(warp_power(3, 1e-9) - log(4)) < 1e-8);
    CHECK(fabs(warp_power(-3, 2 + 1e-9) + log(4)) < 1e-8);
    CHECK(fabs(warp_power(2.5, 1) - 2.5) < 1e-15);
}

static void warp(size_t n, const double y[], double warped[])
{
    struct warping warping;
    warp_init(&warping, n, y);
    for (size_t i = 0; i < n; i++)
        warped[i] = warp_apply(&warping, y[i]);
    warp_fini(&warping);
}

/* Warps and checks what must hold of every result. */
static void check_warp(size_t n, const double y[], double warped[])
{
    double mean = 0, variance = 0;
    warp(n, y, warped);
    for (size_t i = 0; i < n; i++) {
        CHECK(isfinite(warped[i]));
        mean += warped[i] / (double)n;
        variance += warped[i] * warped[i] / (double)n;
        for (size_t j = 0; j < n; j++)
            CHECK(!(y[i] < y[j]) || warped[i] <= warped[j]);
    }
    CHECK(fabs(mean) < 1e-9);
    CHECK(fabs(variance - 1) < 1e-9);
}

static void what_is_better_stays_better(void)
{
    double y[200], warped[200];
    for (size_t i = 0; i < 200; i++)
        y[i] = -exp(8 * sin(0.7 * (double)(i * i)));
    check_warp(200, y, warped);
    for (size_t i = 0; i < 199; i++)
        CHECK((y[i] < y[i + 1]) == (warped[i] < warped[i + 1]));
}

static void the_way_back_leads_to_the_values(void)
{
    struct warping warping;
    double y[40];
    for (size_t i = 0; i < 40; i++)
        y[i] = -exp(3 * sin(0.7 * (double)(i * i)));
    warp_init(&warping, 40, y);
    double before = -INFINITY;
    for (size_t i = 0; i < 40; i++)
        CHECK(fabs(warp_undo(&warping, warp_apply(&warping, y[i])) - y[i]) <
              1e-9 * fabs(y[i]));
    for (double place = -6; place <= 6; place += 0.25) {
        const double value = warp_undo(&warping, place);
        CHECK(isfinite(value) && value >= before);
        before = value;
    }
    warp_fini(&warping);
}

/* Losses are negated, so that larger is better. */
static void the_way_back_keeps_to_one_side_of_zero(void)
{
    static const double sets[][5] = {{-0.004, -0.05, -0.3, -2, -7},
                                     {0.004, 0.05, 0.3, 2, 7},
                                     {-0.9, -0.8, -0.7, -0.6, -0.5}};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        const double *y = sets[s];
        struct warping warping;
        warp_init(&warping, 5, y);
        double before = -INFINITY;
        for (double place = -8; place <= 8; place += 0.125) {
            const double value = warp_undo(&warping, place);
            CHECK(y[0] < 0 ? value <= 0 : value >= 0);
            CHECK(value >= before);
            before = value;
        }
        for (size_t i = 0; i < 5; i++) {
            const double place = warp_apply(&warping, y[i]);
            CHECK(fabs(warp_undo(&warping, place) - y[i]) < 1e-9 * fabs(y[i]));
        }
        warp_fini(&warping);
    }
}

static void values_of_both_signs_have_no_side(void)
{
    static const double y[] = {-1, 0.5, 1, 2, 3};
    struct warping warping;
    warp_init(&warping, 5, y);
    CHECK(warp_undo(&warping, -8) < -1);
    warp_fini(&warping);
}

static void huge_and_tiny_values_do_no_harm(void)
{
    static const double sets[][6] = {
        {0.1, 0.2, 0.3, 0.4, 0.5, -1e300},
        {0.1, 0.2, 0.3, 0.4, 0.5, 1e300},
        {-DBL_MAX, DBL_MAX, 0, 1, 2, 3},
        {1e-300, 2e-300, 3e-300, 4e-300, 5e-300, 6e-300},
        {1, 1 + DBL_EPSILON, 1, 1, 1, 1},
        {0, 0, 0, 0, 0, 1},
        {0, 0, 0, 0, 0, -1},
    };
    double warped[6];
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        check_warp(6, sets[k], warped);
    warp(6, sets[0], warped);
    CHECK(warped[4] - warped[3] > 0.1); /* the good ones stay apart */
}

static void equal_values_become_zeros(void)
{
    static const double y[] = {7, 7, 7, 7, 7};
    double warped[5];
    for (size_t n = 0; n <= 5; n++) {
        warp(n, y, warped);
        for (size_t i = 0; i < n; i++)
            CHECK(warped[i] == 0);
    }
}

static void two_values_are_one_deviation_from_the_middle(void)
{
    static const double y[] = {3, -8};
    double warped[2];
    warp(2, y, warped);
    CHECK(oracle_near(warped[0], 1, 1e-12));
    CHECK(oracle_near(warped[1], -1, 1e-12));
}

/* As far apart as they are, but for what is far below; and back again. */
static void traded_values_keep_their_distances(void)
{
    static const double y[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, -1e6};
    struct warping warping;
    warp_init_traded(&warping, 10, y);
    const double step = warp_apply(&warping, 8) - warp_apply(&warping, 7);
    for (int i = 0; i < 8; i++)
        CHECK(fabs(warp_apply(&warping, i + 1) - warp_apply(&warping, i) -
                   step) < 1e-9);
    const double far = warp_apply(&warping, 0) - warp_apply(&warping, -1e6);
    CHECK(far > 0 && far < 1e3 * step);
    for (int i = 0; i < 10; i++)
        CHECK(fabs(warp_undo(&warping, warp_apply(&warping, y[i])) - y[i]) <=
              1e-9 * (1 + fabs(y[i])));
    warp_fini(&warping);
}

int main(void)
{
    RUN(the_half_rank_is_the_reference);
    RUN(the_power_transform_is_the_reference);
    RUN(its_logarithms_are_limits_of_its_powers);
    RUN(what_is_better_stays_better);
    RUN(the_way_back_leads_to_the_values);
    RUN(the_way_back_keeps_to_one_side_of_zero);
    RUN(values_of_both_signs_have_no_side);
    RUN(huge_and_tiny_values_do_no_harm);
    RUN(equal_values_become_zeros);
    RUN(two_values_are_one_deviation_from_the_middle);
    RUN(traded_values_keep_their_distances);
    return check_done();
}
