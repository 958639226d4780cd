#include <math.h>

#include "algorithms/model/parzen.h"
#include "tests/check.h"

static const char *const names[] = {"a", "b", "c"};
static const struct value on[] = {{.whole = 1}};
static struct condition when_on = {.parent = 2, .n = 1, .values = on};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "k",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 6,
     .int_step = 1},
    {.name = "kind", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
    {.name = "own", .type = PARAM_DOUBLE, .max = 1, .when = &when_on},
};
static const struct space space = {.n = 4, .params = params};

enum { X, K, KIND, OWN };
#define NOT COORDINATE_ABSENT

/* Places: of k at the middles of six cells. */
static const double first[] = {0.1, 0.25, 1, 0.9};
static const double second[] = {0.15, 0.25, 1, 0.8};
static const double third[] = {0.7, 0.75, 0, NOT};
static const double *const points[] = {first, second, third};

static struct encoding encoding;
static struct parzen parzen;

static void open_all(void)
{
    encoding_init(&encoding, &space);
    parzen_init(&parzen, &encoding, 3, points);
}

static void close_all(void)
{
    parzen_fini(&parzen);
    encoding_fini(&encoding);
}

/* The density of one coordinate alone: that of a point where it is all that is
 * present. */
static double density(size_t c, double u)
{
    double x[] = {NOT, NOT, NOT, NOT};
    x[c] = u;
    return exp(parzen_log_density(&parzen, x));
}

/* Over [low, high], by the midpoint rule. */
static double integral(size_t c, double low, double high)
{
    enum { CELLS = 2000 };
    double sum = 0;
    for (int i = 0; i < CELLS; i++)
        sum += density(c, low + (high - low) * (i + 0.5) / CELLS);
    return sum * (high - low) / CELLS;
}

static void every_coordinate_has_a_probability_of_one(void)
{
    double levels = 0, kinds = 0;
    open_all();
    CHECK(fabs(integral(X, 0, 1) - 1) < 1e-4);
    CHECK(fabs(integral(OWN, 0, 1) - 1) < 1e-4);
    for (size_t j = 0; j < 6; j++)
        levels += density(K, encoding_level(&encoding, K, j));
    for (size_t j = 0; j < 3; j++)
        kinds += density(KIND, (double)j);
    CHECK(fabs(levels - 1) < 1e-12);
    CHECK(fabs(kinds - 1) < 1e-12);
    close_all();
}

static void coordinates_count_by_themselves(void)
{
    const double x[] = {0.3, 0.25, 2, NOT};
    open_all();
    CHECK(fabs(parzen_log_density(&parzen, x) -
               log(density(X, 0.3) * density(K, 0.25) * density(KIND, 2))) <
          1e-12);
    close_all();
}

static void a_place_among_points_is_denser(void)
{
    open_all();
    CHECK(density(X, 0.12) > 1.2 * density(X, 0.45));
    CHECK(density(K, encoding_level(&encoding, K, 1)) >
          1.2 * density(K, encoding_level(&encoding, K, 5)));
    close_all();
}

static void a_category_counts_one_more_than_was_seen(void)
{
    open_all();
    CHECK(fabs(density(KIND, 1) - 3.0 / 6) < 1e-12);
    CHECK(fabs(density(KIND, 0) - 2.0 / 6) < 1e-12);
    CHECK(fabs(density(KIND, 2) - 1.0 / 6) < 1e-12);
    close_all();
}

/* Of `own` two points know, so that the third must not weigh on it. */
static void an_absent_coordinate_says_nothing(void)
{
    struct parzen two;
    double x[] = {NOT, NOT, NOT, 0.85};
    open_all();
    parzen_init(&two, &encoding, 2, points);
    CHECK(parzen_log_density(&parzen, x) == parzen_log_density(&two, x));
    parzen_fini(&two);
    close_all();
}

static void nothing_known_is_nearly_even(void)
{
    open_all();
    parzen_fini(&parzen);
    parzen_init(&parzen, &encoding, 0, NULL);
    CHECK(density(X, 0.02) > 0.85 && density(X, 0.5) < 1.1);
    CHECK(fabs(density(KIND, 1) - 1.0 / 3) < 1e-12);
    close_all();
}

/* Ten cells of `x`, the levels and the categories come as often as they are
 * probable. */
static void draws_are_as_dense_as_it_says(void)
{
    enum { DRAWS = 20000 };
    struct rng_place place = {3, 1, 0};
    double cells[10] = {0}, levels[6] = {0}, kinds[3] = {0};
    open_all();
    for (; place.draw < DRAWS; place.draw++) {
        double x[4];
        parzen_draw(&parzen, &place, x);
        cells[(int)fmin(10 * x[X], 9)] += 1.0 / DRAWS;
        levels[encoding_level_of(&encoding, K, x[K])] += 1.0 / DRAWS;
        kinds[(int)x[KIND]] += 1.0 / DRAWS;
    }
    for (int i = 0; i < 10; i++)
        CHECK(fabs(cells[i] - integral(X, 0.1 * i, 0.1 * (i + 1))) < 0.015);
    for (size_t j = 0; j < 6; j++)
        CHECK(fabs(levels[j] - density(K, encoding_level(&encoding, K, j))) <
              0.015);
    for (size_t j = 0; j < 3; j++)
        CHECK(fabs(kinds[j] - density(KIND, (double)j)) < 0.015);
    close_all();
}

int main(void)
{
    RUN(every_coordinate_has_a_probability_of_one);
    RUN(coordinates_count_by_themselves);
    RUN(a_place_among_points_is_denser);
    RUN(a_category_counts_one_more_than_was_seen);
    RUN(an_absent_coordinate_says_nothing);
    RUN(nothing_known_is_nearly_even);
    RUN(draws_are_as_dense_as_it_says);
    return check_done();
}
