#include "hypertune/cli/report/scale.h"

#include <math.h>

#include "proto/base/text.h"
#include "tests/check.h"

/* The ticks as "0.01 0.1 1". */
static void check_ticks(struct scale scale, const char *want)
{
    struct scale_tick ticks[SCALE_TICKS];
    struct text shown = {0};
    const size_t n = scale_ticks(&scale, ticks);
    for (size_t i = 0; i < n; i++) {
        text_puts(&shown, i > 0 ? " " : "");
        text_puts(&shown, scale_label(&ticks[i]));
    }
    CHECK_TEXT(text_string(&shown), want);
    text_free(&shown);
}

static void ticks_of_a_linear_axis_are_round(void)
{
    check_ticks(scale_of(0, 1, false), "0 0.2 0.4 0.6 0.8 1");
    check_ticks(scale_of(-0.31, 0.29, false), "-0.3 -0.2 -0.1 0 0.1 0.2");
    check_ticks(scale_of(8, 64, false), "10 20 30 40 50 60");
    check_ticks(scale_of(1e6, 1e6 + 30, false),
                "1000000 1000005 1000010 1000015 1000020 1000025 1000030");
}

static void ticks_of_a_logarithmic_axis_are_powers_of_ten(void)
{
    check_ticks(scale_of(0.01, 1, true), "0.01 0.1 1");
    check_ticks(scale_of(1e-5, 0.1, true), "1e-05 0.0001 0.001 0.01 0.1");
    check_ticks(scale_of(1e-12, 1, true), "1e-12 1e-09 1e-06 0.001 1");
}

static void a_short_logarithmic_axis_has_ticks_too(void)
{
    check_ticks(scale_of(0.3, 40, true), "0.5 1 2 5 10 20");
    check_ticks(scale_of(2.1, 4.9, true), "2.5 3 3.5 4 4.5");
}

static void an_axis_of_labels_has_each(void)
{
    static const char *const labels[] = {"adam", "sgd"};
    const struct scale scale = scale_of_labels(2, labels);
    check_ticks(scale, "adam sgd");
    CHECK(fabs(scale_place(&scale, 0) - 0.25) < 1e-12);
    CHECK(fabs(scale_place(&scale, 1) - 0.75) < 1e-12);
}

static void ends_that_are_equal_are_moved_apart(void)
{
    const struct scale zero = scale_of(0, 0, false);
    const struct scale log = scale_of(10, 10, true);
    CHECK(zero.low < 0 && zero.high > 0);
    CHECK(fabs(scale_place(&log, 10) - 0.5) < 1e-12);
    CHECK(!scale_of(0, 1, true).log);
}

static void an_outlier_does_not_squeeze_the_rest(void)
{
    const double loss[] = {0.5, 0.4, 0.6, 0.55, 0.45, 0.5, 0.52, 0.48, 900};
    const double score[] = {50, 40, 60, 55, 45, 50, 52, 48, -900};
    const struct scale low = scale_of_results(9, loss, false);
    const struct scale high = scale_of_results(9, score, true);
    CHECK(!low.log && low.high < 1);
    CHECK(!scale_holds(&low, 900) && scale_holds(&low, 0.4));
    CHECK(!scale_holds(&high, -900) && scale_holds(&high, 60));
}

static void the_best_is_always_within(void)
{
    const double loss[] = {50, 40, 60, 55, 45, 50, 52, 48, -900};
    const struct scale scale = scale_of_results(9, loss, false);
    CHECK(scale_holds(&scale, -900) && scale_holds(&scale, 60));
}

static void results_over_many_decades_have_a_logarithmic_axis(void)
{
    const double loss[] = {1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4};
    const double zero[] = {0, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4};
    CHECK(scale_of_results(9, loss, false).log);
    CHECK(!scale_of_results(9, zero, false).log);
}

int main(void)
{
    RUN(ticks_of_a_linear_axis_are_round);
    RUN(ticks_of_a_logarithmic_axis_are_powers_of_ten);
    RUN(a_short_logarithmic_axis_has_ticks_too);
    RUN(an_axis_of_labels_has_each);
    RUN(ends_that_are_equal_are_moved_apart);
    RUN(an_outlier_does_not_squeeze_the_rest);
    RUN(the_best_is_always_within);
    RUN(results_over_many_decades_have_a_logarithmic_axis);
    return check_done();
}
