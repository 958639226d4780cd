#include <math.h>

#include "algorithms/model/forest.h"
#include "tests/check.h"

static const char *const names[] = {"a", "b", "c", "d"};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "kind", .type = PARAM_CATEGORICAL, .n_values = 4, .labels = names},
};
static const struct space space = {.n = 3, .params = params};

enum { N = 60 };

static struct encoding encoding;
static double rows[3 * N], values[N];

static void scatter(void)
{
    encoding_init(&encoding, &space);
    for (size_t i = 0; i < N; i++) {
        rows[3 * i] = fmod(0.5 + 0.7548776662 * (double)i, 1);
        rows[3 * i + 1] = fmod(0.5 + 0.5698402910 * (double)i, 1);
        rows[3 * i + 2] = (double)(i % 4);
    }
}

static struct forest *grow(uint64_t seed)
{
    const struct sample sample = {&encoding, N, N, rows, values, NULL};
    const struct rng_place place = {seed, 7, RNG_TREES};
    return forest_new(&sample, &place);
}

static double mean_at(const struct forest *forest, double x, double y,
                      double kind)
{
    const double at[] = {x, y, kind};
    double mean, variance;
    forest_predict(forest, at, &mean, &variance);
    return mean;
}

static double variance_at(const struct forest *forest, double x, double y,
                          double kind)
{
    const double at[] = {x, y, kind};
    double mean, variance;
    forest_predict(forest, at, &mean, &variance);
    return variance;
}

static void steps_have_edges_and_plains(void)
{
    scatter();
    for (size_t i = 0; i < N; i++)
        values[i] = rows[3 * i] < 0.4 ? 1 : 0;
    struct forest *forest = grow(1);
    CHECK(mean_at(forest, 0.05, 0.1, 0) > 0.8);
    CHECK(mean_at(forest, 0.3, 0.9, 3) > 0.6);
    CHECK(mean_at(forest, 0.5, 0.9, 3) < 0.2);
    CHECK(mean_at(forest, 0.95, 0.1, 0) < 0.2);
    CHECK(variance_at(forest, 0.4, 0.5, 1) >
          5 * variance_at(forest, 0.9, 0.5, 1));
    forest_free(forest);
    encoding_fini(&encoding);
}

/* Categories have no order: the third alone is good. */
static void a_category_is_told_from_all_others(void)
{
    scatter();
    for (size_t i = 0; i < N; i++)
        values[i] = rows[3 * i + 2] == 2 ? 1 : 0;
    struct forest *forest = grow(1);
    CHECK(mean_at(forest, 0.5, 0.5, 2) > 0.6);
    CHECK(mean_at(forest, 0.5, 0.5, 1) < 0.2);
    CHECK(mean_at(forest, 0.5, 0.5, 3) < 0.2);
    forest_free(forest);
    encoding_fini(&encoding);
}

static void equal_values_are_foretold_everywhere(void)
{
    scatter();
    for (size_t i = 0; i < N; i++)
        values[i] = -2.5;
    struct forest *forest = grow(1);
    CHECK(fabs(mean_at(forest, 0.1, 0.9, 3) + 2.5) < 1e-12);
    CHECK(variance_at(forest, 0.1, 0.9, 3) < 1e-5);
    CHECK(variance_at(forest, 0.1, 0.9, 3) > 0);
    forest_free(forest);
    encoding_fini(&encoding);
}

/* Points of one place differ by noise alone, which no cut can explain. */
static void noise_stays_as_variance(void)
{
    scatter();
    for (size_t i = 0; i < N; i++) {
        rows[3 * i] = rows[3 * i + 1] = 0.5;
        rows[3 * i + 2] = 1;
        values[i] = i % 2 == 0 ? 1 : -1;
    }
    struct forest *forest = grow(1);
    CHECK(fabs(mean_at(forest, 0.5, 0.5, 1)) < 0.1);
    CHECK(fabs(variance_at(forest, 0.5, 0.5, 1) - 1) < 0.2);
    forest_free(forest);
    encoding_fini(&encoding);
}

static void a_place_of_draws_is_a_forest(void)
{
    scatter();
    for (size_t i = 0; i < N; i++)
        values[i] = sin(9 * rows[3 * i]) + rows[3 * i + 1];
    struct forest *one = grow(1), *same = grow(1), *other = grow(2);
    CHECK(mean_at(one, 0.31, 0.22, 0) == mean_at(same, 0.31, 0.22, 0));
    CHECK(mean_at(one, 0.31, 0.22, 0) != mean_at(other, 0.31, 0.22, 0));
    forest_free(one);
    forest_free(same);
    forest_free(other);
    encoding_fini(&encoding);
}

int main(void)
{
    RUN(steps_have_edges_and_plains);
    RUN(a_category_is_told_from_all_others);
    RUN(equal_values_are_foretold_everywhere);
    RUN(noise_stays_as_variance);
    RUN(a_place_of_draws_is_a_forest);
    return check_done();
}
