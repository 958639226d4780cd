/* The median rule, with the numbers of the reference implementation. */
#include "algorithms/median_stop.h"

#include <math.h>

#include "tests/check.h"

#define CURVE(points)                                                          \
    (struct curve)                                                             \
    {                                                                          \
        sizeof(points) / sizeof *(points), (points)                            \
    }

static const struct curve_point first[] = {{1, 0.2}, {2, 0.4}, {3, 0.5}};
static const struct curve_point second[] = {{1, 0.3}, {2, 0.5}, {3, 0.7}};
static const struct curve_point third[] = {{1, 0.1}, {3, 0.2}, {4, 0.9}};

static void the_oracle_is_met(void)
{
    const struct curve completed[] = {CURVE(first), CURVE(second),
                                      CURVE(third)};
    static const double want[] = {0.3, 0.4, 0.1};
    double means[3];
    for (size_t i = 0; i < 3; i++) {
        CHECK(curve_mean_until(&completed[i], 2, &means[i]));
        CHECK(fabs(means[i] - want[i]) < 1e-15);
    }
    CHECK(fabs(median_of(3, means) - 0.3) < 1e-15);
}

static void only_a_strictly_worse_best_stops(void)
{
    const struct curve completed[] = {CURVE(first), CURVE(second),
                                      CURVE(third)};
    const struct curve_point equal[] = {{1, 0.15}, {2, 0.3}};
    const struct curve_point worse[] = {{1, 0.15}, {2, 0.29}};
    double scratch[3];
    CHECK(!median_stop(&CURVE(equal), 3, completed, scratch));
    CHECK(median_stop(&CURVE(worse), 3, completed, scratch));
}

static void the_best_value_counts_not_the_last(void)
{
    const struct curve completed[] = {CURVE(first)};
    const struct curve_point fallen[] = {{1, 0.9}, {2, 0.1}};
    double scratch[1];
    CHECK(!median_stop(&CURVE(fallen), 1, completed, scratch));
}

static void without_values_nothing_stops(void)
{
    const struct curve empty = {0, NULL};
    const struct curve completed[] = {CURVE(third), empty};
    const struct curve_point nothing[] = {{1, NAN}};
    const struct curve_point early[] = {{0, -9}};
    double scratch[2];
    CHECK(!median_stop(&empty, 2, completed, scratch));
    CHECK(!median_stop(&CURVE(nothing), 2, completed, scratch));
    CHECK(!median_stop(&CURVE(early), 2, completed, scratch));
    CHECK(!median_stop(&CURVE(early), 0, completed, scratch));
}

static void an_even_count_has_the_mean_of_the_middle(void)
{
    double values[] = {4, 1, 3, 2};
    CHECK(median_of(4, values) == 2.5);
    CHECK(values[0] == 1 && values[3] == 4);
}

static void values_that_are_not_finite_are_left_out(void)
{
    const struct curve_point points[] = {
        {1, 1}, {2, NAN}, {3, INFINITY}, {4, 3}};
    double mean;
    CHECK(curve_mean_until(&CURVE(points), 4, &mean) && mean == 2);
    CHECK(!curve_mean_until(&CURVE(points), 0, &mean));
}

int main(void)
{
    RUN(the_oracle_is_met);
    RUN(only_a_strictly_worse_best_stops);
    RUN(the_best_value_counts_not_the_last);
    RUN(without_values_nothing_stops);
    RUN(an_even_count_has_the_mean_of_the_middle);
    RUN(values_that_are_not_finite_are_left_out);
    return check_done();
}
