/* Problems of families: what a comparison of searches rests on. */
#include <math.h>

#include "bench/families.h"
#include "tests/check.h"

enum { POINTS = 200 };

static struct instance one, other;

static double value_at(const struct instance *instance, uint64_t draw)
{
    const struct rng_place place = {3, 0, draw};
    double u[SHAPE_DIM];
    for (size_t i = 0; i < instance->dim; i++)
        u[i] = rng_unit(&place, i);
    return instance_at(instance, u);
}

static void a_problem_is_a_function_of_its_seed(void)
{
    for (size_t f = 0; f < N_FAMILIES; f++) {
        double apart = 0;
        instance_make(&one, &families[f], 1);
        instance_make(&other, &families[f], 1);
        CHECK(one.dim == other.dim);
        for (uint64_t k = 0; k < POINTS; k++)
            CHECK(value_at(&one, k) == value_at(&other, k));
        instance_make(&other, &families[f], 2);
        for (uint64_t k = 0; k < POINTS; k++)
            apart += fabs(value_at(&one, k) - value_at(&other, k));
        CHECK(apart > 0);
    }
}

static void nothing_is_better_than_the_optimum(void)
{
    for (size_t f = 0; f < N_FAMILIES; f++) {
        instance_make(&one, &families[f], f);
        instance_survey(&one);
        CHECK(one.dim >= families[f].least_dim);
        CHECK(one.dim <= families[f].most_dim);
        CHECK(one.optimum < one.middle && one.spread > 0);
        CHECK((one.noise > 0) == (families[f].noise > 0));
        for (uint64_t k = 0; k < POINTS; k++)
            CHECK(value_at(&one, k) >= one.optimum);
    }
}

static void a_known_optimum_is_reached_at_its_place(void)
{
    instance_make(&one, &families[0], 5);
    CHECK_TEXT(families[0].name, "summits");
    CHECK(fabs(instance_at(&one, one.of.summits.at[0]) - one.optimum) < 1e-9);
    instance_make(&one, &families[1], 5);
    CHECK_TEXT(families[1].name, "funnels");
    CHECK(fabs(instance_at(&one, one.of.funnel.at) - one.optimum) < 1e-9);
    instance_make(&one, &families[2], 5);
    CHECK_TEXT(families[2].name, "valleys");
    CHECK(fabs(instance_at(&one, one.of.valley.at) - one.optimum) < 1e-9);
}

int main(void)
{
    RUN(a_problem_is_a_function_of_its_seed);
    RUN(nothing_is_better_than_the_optimum);
    RUN(a_known_optimum_is_reached_at_its_place);
    return check_done();
}
