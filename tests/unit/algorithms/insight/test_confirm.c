/* The figures were integrated apart from this program, over a common grid of
 * 100,000 cells; they hold to 1e-6. */
#include <math.h>
#include <stdbool.h>

#include "algorithms/insight/confirm.h"
#include "tests/check.h"

static const double first[] = {0.931, 0.935, 0.928, 0.940, 0.933};
static const double second[] = {0.929, 0.938, 0.926, 0.931, 0.930};
static const double third[] = {0.90, 0.95, 0.91, 0.93};
static const double fourth[] = {0.9, 0.92};

static bool near(double got, double want, double most)
{
    return fabs(got - want) <= most;
}

static void mean_deviation_and_interval_are_students(void)
{
    const struct confirm_runs runs[] = {{5, first}, {4, third}, {2, fourth}};
    struct confirm_standing is[3];
    confirm_judge(3, runs, is);
    CHECK(near(is[0].mean, 0.9334, 1e-12));
    CHECK(near(is[0].sd, 0.00450555213043, 1e-12));
    CHECK(near(is[0].low, 0.927805618128, 1e-10));
    CHECK(near(is[0].high, 0.938994381872, 1e-10));
    CHECK(near(is[1].low, 0.887216921411, 1e-10));
    CHECK(near(is[1].high, 0.957783078589, 1e-10));
    CHECK(near(is[2].low, 0.782937952638, 1e-10));
}

static void the_chance_to_be_best_is_the_integral(void)
{
    const struct confirm_runs runs[] = {
        {5, first}, {5, second}, {4, third}, {2, fourth}};
    static const double two[] = {0.77812559, 0.22187441};
    static const double four[] = {0.55140917, 0.1532913, 0.17487819,
                                  0.12042134};
    struct confirm_standing is[4];
    double sum = 0;
    confirm_judge(2, runs, is);
    for (size_t i = 0; i < 2; i++)
        CHECK(near(is[i].chance, two[i], 3e-6));
    confirm_judge(4, runs, is);
    for (size_t i = 0; i < 4; i++) {
        CHECK(near(is[i].chance, four[i], 3e-6));
        sum += is[i].chance;
    }
    CHECK(near(sum, 1, 1e-12));
}

static void too_few_runs_say_what_they_can(void)
{
    const struct confirm_runs runs[] = {
        {0, first}, {1, first}, {5, first}, {5, second}};
    struct confirm_standing is[4];
    size_t order[4];
    confirm_judge(4, runs, is);
    CHECK(isnan(is[0].mean) && isnan(is[0].chance));
    CHECK(is[1].mean == 0.931 && isnan(is[1].sd) && isnan(is[1].low));
    CHECK(isnan(is[1].chance));
    CHECK(near(is[2].chance, 0.77812559, 3e-6)); /* as if the others were not */
    confirm_rank(4, is, order);
    CHECK(order[0] == 2 && order[1] == 3 && order[2] == 1 && order[3] == 0);
}

static void runs_without_noise_are_compared_all_the_same(void)
{
    static const double same[] = {0.5, 0.5}, better[] = {0.6, 0.6};
    const struct confirm_runs apart[] = {{2, same}, {2, better}};
    const struct confirm_runs equal[] = {{2, same}, {2, same}, {2, same}};
    const struct confirm_runs mixed[] = {{2, same}, {2, fourth}};
    struct confirm_standing is[3];
    size_t order[3];
    confirm_judge(2, apart, is);
    CHECK(is[0].chance == 0 && is[1].chance == 1);
    CHECK(is[1].low == 0.6 && is[1].high == 0.6 && is[1].sd == 0);
    confirm_judge(3, equal, is);
    for (size_t i = 0; i < 3; i++)
        CHECK(near(is[i].chance, 1.0 / 3, 1e-12));
    confirm_rank(3, is, order);
    CHECK(order[0] == 0 && order[1] == 1 && order[2] == 2);
    /* A Cauchy belief around 0.91, scale 0.01: P(x < 0.5). */
    confirm_judge(2, mixed, is);
    CHECK(near(is[0].chance, 0.5 + atan((0.5 - 0.91) / 0.01) / acos(-1), 1e-6));
}

/* Two runs make a Cauchy belief, half their distance being its scale; the
 * difference of two is a Cauchy belief again, their scales added. */
static void scales_may_be_far_apart(void)
{
    static const double scales[][2] = {
        {1e-9, 1}, {1e-3, 1}, {1, 1}, {1, 20}, {1, 1e6}};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        const double one = scales[i][0], other = scales[i][1];
        const double left[] = {0.7 - one, 0.7 + one};
        const double right[] = {-other, other};
        const struct confirm_runs runs[] = {{2, left}, {2, right}};
        struct confirm_standing is[2];
        confirm_judge(2, runs, is);
        CHECK(near(is[0].chance, 0.5 + atan(0.7 / (one + other)) / acos(-1),
                   3e-6));
        CHECK(near(is[1].chance, 1 - is[0].chance, 1e-12));
    }
}

/* They are all equal, so each is the best with the same chance. */
static void many_are_judged_together(void)
{
    struct confirm_runs runs[20];
    struct confirm_standing is[20];
    for (size_t i = 0; i < 20; i++)
        runs[i] = (struct confirm_runs){5, first};
    confirm_judge(20, runs, is);
    for (size_t i = 0; i < 20; i++)
        CHECK(near(is[i].chance, 0.05, 1e-12));
    runs[7].n = 1; /* cannot be told yet */
    confirm_judge(20, runs, is);
    CHECK(isnan(is[7].chance) && is[7].mean == first[0]);
    CHECK(near(is[19].chance, 1.0 / 19, 1e-12));
}

static void squares_beyond_numbers_tell_nothing(void)
{
    static const double huge[] = {-1e300, 1e300};
    const struct confirm_runs runs[] = {{2, huge}, {5, first}};
    struct confirm_standing is[2];
    confirm_judge(2, runs, is);
    CHECK(isnan(is[0].chance) && is[1].chance == 1);
}

static void one_alone_is_the_best(void)
{
    const struct confirm_runs runs[] = {{5, first}};
    struct confirm_standing is[1];
    confirm_judge(1, runs, is);
    CHECK(is[0].chance == 1);
}

static void scale_and_offset_do_not_matter(void)
{
    double large[5], other[5];
    for (size_t i = 0; i < 5; i++) {
        large[i] = 1e9 * (first[i] - 1);
        other[i] = 1e9 * (second[i] - 1);
    }
    const struct confirm_runs runs[] = {{5, large}, {5, other}};
    struct confirm_standing is[2];
    confirm_judge(2, runs, is);
    CHECK(near(is[0].chance, 0.77812559, 3e-6));
}

int main(void)
{
    RUN(mean_deviation_and_interval_are_students);
    RUN(the_chance_to_be_best_is_the_integral);
    RUN(too_few_runs_say_what_they_can);
    RUN(runs_without_noise_are_compared_all_the_same);
    RUN(scales_may_be_far_apart);
    RUN(many_are_judged_together);
    RUN(squares_beyond_numbers_tell_nothing);
    RUN(one_alone_is_the_best);
    RUN(scale_and_offset_do_not_matter);
    return check_done();
}
