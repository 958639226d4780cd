/* Every method keeps to the constraints of a study. */
#include <math.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "tests/check.h"
#include "tests/lib/searching.h"
#include "tests/lib/taken_set.h"

static struct arena *arena;

static struct constraint_set constraints(const struct space *space,
                                         const char *text)
{
    struct constraint_set set = {0};
    struct ht_error err = {.text = ""};
    if (constraint_set_parse(arena, space, 1, &text, &set, &err) != HT_OK)
        CHECK_TEXT(err.text, "");
    return set;
}

static const char *const names[] = {"sgd", "adam", "lamb"};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "n",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 12,
     .int_step = 1},
    {.name = "opt", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
};
static const struct space mixed = {.n = 4, .params = params};

/* At most 1.2, at x = y = 0.5, n = 4 and "adam" under x + y <= 1. */
static double mixed_value(const struct value point[])
{
    return point[0].real + point[1].real -
           (point[0].real - point[1].real) * (point[0].real - point[1].real) -
           0.01 * (double)((point[2].whole - 4) * (point[2].whole - 4)) +
           0.2 * (point[3].whole == 1);
}

/* Plays `trials`; returns the best value. Each point must be allowed. */
static double play(const struct algorithm *algorithm,
                   const struct constraint_set *set, uint64_t trials,
                   double (*value)(const struct value point[]))
{
    void *state;
    double best = -INFINITY;
    CHECK(search_new(algorithm, set->space, 5, &state, NULL) == HT_OK);
    for (uint64_t k = 0; k < trials; k++) {
        struct value point[HT_MAX_PARAMETERS], again[HT_MAX_PARAMETERS];
        const struct suggest_request request = {
            .ordinal = k, .taken = &taken_nothing, .constraints = set};
        CHECK(search_ask(algorithm, state, &request, point, NULL) == HT_OK);
        CHECK(search_ask(algorithm, state, &request, again, NULL) == HT_OK);
        CHECK(constraint_set_holds(set, point));
        for (size_t i = 0; i < set->space->n; i++)
            CHECK(
                space_value_equal(&set->space->params[i], point[i], again[i]));
        const double told = value(point);
        CHECK(search_tell(algorithm, state, point, true, told) == HT_OK);
        best = fmax(best, told);
    }
    algorithm->free(state);
    return best;
}

static void an_optimum_on_the_edge_is_found(void)
{
    const struct constraint_set set =
        constraints(&mixed, "x + y <= 1 and not (opt == sgd and n > 3)");
    CHECK(play(&bayesian_search, &set, 40, mixed_value) > 1.19);
    CHECK(play(&random_search, &set, 40, mixed_value) < 1.19);
}

/* ---- a sliver ---- */

enum { WIDTH = 10 };
static struct param many_params[WIDTH];
static const struct space many = {.n = WIDTH, .params = many_params};

static double sum_of_roots(const struct value point[])
{
    double sum = 0;
    for (size_t i = 0; i < WIDTH; i++)
        sum += sqrt(point[i].real);
    return sum;
}

/* One in 10! = 3.6 million random points is allowed. */
static void a_sliver_in_many_dimensions_is_searched(void)
{
    static const char letters[] = "a\0b\0c\0d\0e\0f\0g\0h\0i\0j";
    for (size_t i = 0; i < WIDTH; i++)
        many_params[i] = (struct param){
            .name = letters + 2 * i, .type = PARAM_DOUBLE, .max = 1};
    const struct constraint_set set =
        constraints(&many, "a + b + c + d + e + f + g + h + i + j <= 1");
    CHECK(play(&random_search, &set, 20, sum_of_roots) > 2.5);
    CHECK(play(&bayesian_search, &set, 20, sum_of_roots) > 2.5);
}

static void an_order_of_many_is_kept(void)
{
    const struct constraint_set set =
        constraints(&many, "a < b < c < d < e < f < g < h < i < j");
    play(&random_search, &set, 5, sum_of_roots);
    play(&bayesian_search, &set, 15, sum_of_roots);
}

/* ---- finite spaces ---- */

static struct param whole_params[] = {
    {.name = "a",
     .type = PARAM_INTEGER,
     .int_min = 0,
     .int_max = 9,
     .int_step = 1},
    {.name = "b",
     .type = PARAM_INTEGER,
     .int_min = 0,
     .int_max = 9,
     .int_step = 1},
};
static const struct space whole = {.n = 2, .params = whole_params};

/* Returns how many points come before the end. */
static int walk(const struct algorithm *algorithm,
                const struct constraint_set *set, struct ht_error *err)
{
    struct taken_set taken;
    struct value point[2];
    void *state;
    int n = 0;
    taken_set_init(&taken, set->space);
    CHECK(search_new(algorithm, set->space, 3, &state, NULL) == HT_OK);
    for (;; n++) {
        const struct suggest_request request = {
            .ordinal = (uint64_t)n, .taken = &taken.taken, .constraints = set};
        if (search_ask(algorithm, state, &request, point, err) != HT_OK)
            break;
        CHECK(point[0].whole < point[1].whole);
        CHECK(taken_set_add(&taken, point));
        CHECK(search_tell(algorithm, state, point, true,
                          (double)point[0].whole) == HT_OK);
    }
    CHECK(err->status == HT_EXHAUSTED);
    algorithm->free(state);
    taken_set_fini(&taken);
    return n;
}

static void only_allowed_points_are_counted(void)
{
    const struct algorithm *const all[] = {&grid_search, &random_search,
                                           &bayesian_search};
    const struct constraint_set set = constraints(&whole, "a < b");
    for (size_t i = 0; i < 3; i++) {
        struct ht_error err;
        CHECK(walk(all[i], &set, &err) == 45);
        CHECK_TEXT(err.text, "no untried point satisfies the constraints");
    }
}

/* ---- nothing allowed ---- */

static void an_impossible_space_ends_with_words(void)
{
    static const char *const texts[] = {"a + b < 3", "a + b > 15"};
    static const char *const reals[] = {"x + y < 0.5", "x > 0.4", "y > 0.4"};
    const struct algorithm *const all[] = {&grid_search, &random_search,
                                           &bayesian_search};
    struct constraint_set none, never;
    CHECK(constraint_set_parse(arena, &whole, 2, texts, &none, NULL) == HT_OK);
    CHECK(constraint_set_parse(arena, &mixed, 3, reals, &never, NULL) == HT_OK);
    for (size_t i = 0; i < 3; i++) {
        struct ht_error err;
        CHECK(walk(all[i], &none, &err) == 0);
        CHECK_TEXT(err.text, "no point satisfies the constraints");
    }
    for (size_t i = 1; i < 3; i++) {
        const struct suggest_request request = {.taken = &taken_nothing,
                                                .constraints = &never};
        struct value point[4];
        struct ht_error err;
        void *state;
        CHECK(search_new(all[i], &mixed, 1, &state, NULL) == HT_OK);
        CHECK(search_ask(all[i], state, &request, point, &err) == HT_EXHAUSTED);
        CHECK_TEXT(err.text,
                   "it seems that no point satisfies the constraints");
        all[i]->free(state);
    }
}

/* A default that is not allowed gives way to what is. */
static void the_first_point_is_allowed_too(void)
{
    const struct constraint_set set = constraints(&mixed, "x + y < 0.4");
    const struct suggest_request request = {.taken = &taken_nothing,
                                            .constraints = &set};
    struct value point[4];
    void *state;
    CHECK(search_new(&bayesian_search, &mixed, 1, &state, NULL) == HT_OK);
    CHECK(search_ask(&bayesian_search, state, &request, point, NULL) == HT_OK);
    CHECK(point[0].real + point[1].real < 0.4);
    CHECK(point[2].whole == 6 || point[2].whole == 7);
    bayesian_search.free(state);
}

int main(void)
{
    arena = arena_new();
    algorithm_init();
    RUN(an_optimum_on_the_edge_is_found);
    RUN(a_sliver_in_many_dimensions_is_searched);
    RUN(an_order_of_many_is_kept);
    RUN(only_allowed_points_are_counted);
    RUN(an_impossible_space_ends_with_words);
    RUN(the_first_point_is_allowed_too);
    arena_free(arena);
    return check_done();
}
