#include <math.h>
#include <stdlib.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/limits.h"
#include "tests/check.h"
#include "tests/lib/searching.h"
#include "tests/lib/taken_set.h"

static const char *const colours[] = {"red", "green"};
static const double rates[] = {0.1, 0.2, 0.5, 0.9};

static struct param mixed_params[] = {
    {.name = "rate",
     .type = PARAM_DOUBLE,
     .scale = SCALE_LOG,
     .min = 1e-6,
     .max = 1.0},
    {.name = "units",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 1000,
     .int_step = 1},
    {.name = "colour",
     .type = PARAM_CATEGORICAL,
     .n_values = 2,
     .labels = colours},
};
static const struct space mixed = {.n = 3, .params = mixed_params};

/* 2 * 4 * 4 = 32 points. */
static struct param small_params[] = {
    {.name = "colour",
     .type = PARAM_CATEGORICAL,
     .n_values = 2,
     .labels = colours},
    {.name = "rate", .type = PARAM_DISCRETE, .n_values = 4, .numbers = rates},
    {.name = "layers",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 4,
     .int_step = 1},
};
static const struct space small = {.n = 3, .params = small_params};

static void *start(const struct space *space, uint64_t seed)
{
    void *state = NULL;
    CHECK(search_new(&random_search, space, seed, &state, NULL) == HT_OK);
    return state;
}

static enum ht_status suggest(void *state, uint64_t ordinal,
                              const struct taken *taken, struct value point[])
{
    const struct suggest_request request = {.ordinal = ordinal, .taken = taken};
    return search_ask(&random_search, state, &request, point, NULL);
}

static bool is_same(const struct value a[], const struct value b[])
{
    return memcmp(&a[0].real, &b[0].real, sizeof a[0].real) == 0 &&
           a[1].whole == b[1].whole && a[2].whole == b[2].whole;
}

static void the_same_seed_gives_the_same_points_bit_for_bit(void)
{
    void *one = start(&mixed, 42), *two = start(&mixed, 42);
    for (uint64_t k = 0; k < 200; k++) {
        struct value a[3], b[3];
        CHECK(suggest(one, k, &taken_nothing, a) == HT_OK);
        CHECK(suggest(two, 199 - k, &taken_nothing, b) == HT_OK);
        CHECK(suggest(two, k, &taken_nothing, b) == HT_OK);
        CHECK(is_same(a, b));
    }
    random_search.free(one);
    random_search.free(two);
}

static void results_do_not_move_the_next_point(void)
{
    void *one = start(&mixed, 42), *two = start(&mixed, 42);
    struct value a[3], b[3];
    CHECK(suggest(one, 0, &taken_nothing, a) == HT_OK);
    CHECK(search_tell(&random_search, two, a, true, 0.9) == HT_OK);
    CHECK(suggest(one, 1, &taken_nothing, a) == HT_OK);
    CHECK(suggest(two, 1, &taken_nothing, b) == HT_OK);
    CHECK(is_same(a, b));
    random_search.free(one);
    random_search.free(two);
}

static void another_seed_gives_other_points(void)
{
    void *one = start(&mixed, 42), *two = start(&mixed, 43);
    int equal = 0;
    for (uint64_t k = 0; k < 200; k++) {
        struct value a[3], b[3];
        suggest(one, k, &taken_nothing, a);
        suggest(two, k, &taken_nothing, b);
        equal += is_same(a, b);
    }
    CHECK(equal == 0);
    random_search.free(one);
    random_search.free(two);
}

static void a_log_scale_has_its_median_at_the_geometric_middle(void)
{
    enum { DRAWS = 20000 };
    void *state = start(&mixed, 7);
    int below = 0, decade[6] = {0};
    for (uint64_t k = 0; k < DRAWS; k++) {
        struct value point[3];
        suggest(state, k, &taken_nothing, point);
        CHECK(point[0].real >= 1e-6 && point[0].real <= 1.0);
        below += point[0].real < 1e-3;
        int at = (int)floor(log10(point[0].real) + 6.0);
        decade[at > 5 ? 5 : at]++;
    }
    /* Five standard deviations of a share of DRAWS: 0.018 and 0.013. */
    CHECK(fabs((double)below / DRAWS - 0.5) < 0.018);
    for (int i = 0; i < 6; i++)
        CHECK(fabs((double)decade[i] / DRAWS - 1.0 / 6) < 0.014);
    random_search.free(state);
}

static void whole_numbers_and_categories_are_uniform(void)
{
    enum { DRAWS = 100000, CELLS = 1000 };
    void *state = start(&mixed, 11);
    static int count[CELLS];
    int red = 0;
    for (uint64_t k = 0; k < DRAWS; k++) {
        struct value point[3];
        suggest(state, k, &taken_nothing, point);
        CHECK(point[1].whole >= 1 && point[1].whole <= CELLS);
        count[point[1].whole - 1]++;
        red += point[2].whole == 0;
    }
    double sum = 0.0, expected = (double)DRAWS / CELLS;
    for (int i = 0; i < CELLS; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    CHECK(sum < 1177.0); /* 99.99 % of chi-square, 999 degrees */
    CHECK(fabs((double)red / DRAWS - 0.5) < 0.008);
    random_search.free(state);
}

static void parameters_do_not_move_together(void)
{
    enum { DRAWS = 20000 };
    void *state = start(&mixed, 3);
    double product = 0.0;
    for (uint64_t k = 0; k < DRAWS; k++) {
        struct value point[3];
        suggest(state, k, &taken_nothing, point);
        double x = (log10(point[0].real) + 3.0) / 3.0;
        double y = ((double)point[1].whole - 500.5) / 499.5;
        product += x * y;
    }
    /* Two uniforms on [-1, 1]: the mean of their product has a deviation of
     * 1/3 / sqrt(DRAWS) = 0.0024. */
    CHECK(fabs(product / DRAWS) < 0.012);
    random_search.free(state);
}

static void a_space_of_32_points_gives_32_and_then_ends(void)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct taken_set set;
        taken_set_init(&set, &small);
        void *state = start(&small, seed);
        struct value point[3];
        for (uint64_t k = 0; k < 32; k++) {
            CHECK(suggest(state, k, &set.taken, point) == HT_OK);
            CHECK(taken_set_add(&set, point));
        }
        struct ht_error err = {0};
        const struct suggest_request request = {.ordinal = 32,
                                                .taken = &set.taken};
        CHECK(search_ask(&random_search, state, &request, point, &err) ==
              HT_EXHAUSTED);
        CHECK_TEXT(err.text, "all 32 points of the search space were tried");
        random_search.free(state);
        taken_set_fini(&set);
    }
}

static void the_last_free_points_have_equal_chances(void)
{
    /* Of 100,000 points only these three are free: too few for draws to meet
     * one by luck. */
    enum { POINTS = 100000 };
    static const uint64_t holes[] = {5, 40000, POINTS - 1};
    struct param param = {.name = "n",
                          .type = PARAM_INTEGER,
                          .int_min = 0,
                          .int_max = POINTS - 1,
                          .int_step = 1};
    const struct space space = {.n = 1, .params = &param};
    struct taken_set set;
    taken_set_init(&set, &space);
    memset(set.marks, 1, set.size);
    set.taken.n = set.size - 3;
    int found[3] = {0};
    for (int i = 0; i < 3; i++)
        set.marks[holes[i]] = 0;
    void *state = start(&space, 1);
    for (uint64_t k = 0; k < 60; k++) {
        struct value point[1];
        CHECK(suggest(state, k, &set.taken, point) == HT_OK);
        for (int i = 0; i < 3; i++)
            found[i] += (uint64_t)point[0].whole == holes[i];
    }
    CHECK(found[0] + found[1] + found[2] == 60);
    for (int i = 0; i < 3; i++)
        CHECK(found[i] >= 8 && found[i] <= 36);
    random_search.free(state);
    taken_set_fini(&set);
}

static void the_only_free_point_is_found_whatever_the_count_says(void)
{
    struct taken_set set;
    taken_set_init(&set, &small);
    struct value point[3];
    for (uint64_t i = 0; i < 31; i++) {
        subspace_point(&small, NULL, i, point);
        taken_set_add(&set, point);
    }
    set.taken.n = 0;
    void *state = start(&small, 9);
    CHECK(suggest(state, 31, &set.taken, point) == HT_OK);
    CHECK(point_index(&small, point) == 31);
    random_search.free(state);
    taken_set_fini(&set);
}

static void a_full_space_of_a_million_points_is_noticed_at_once(void)
{
    struct param param = {.name = "n",
                          .type = PARAM_INTEGER,
                          .int_min = 1,
                          .int_max = HT_MAX_GRID,
                          .int_step = 1};
    const struct space space = {.n = 1, .params = &param};
    struct taken_set set;
    taken_set_init(&set, &space);
    set.taken.n = HT_MAX_GRID;
    void *state = start(&space, 1);
    struct value point[1];
    for (uint64_t k = 0; k < 100000; k++)
        CHECK(suggest(state, k, &set.taken, point) == HT_EXHAUSTED);
    random_search.free(state);
    taken_set_fini(&set);
}

static void a_single_point_is_suggested_once(void)
{
    struct param param = {
        .name = "x", .type = PARAM_DOUBLE, .min = 0.5, .max = 0.5};
    const struct space space = {.n = 1, .params = &param};
    struct taken_set set;
    taken_set_init(&set, &space);
    void *state = start(&space, 1);
    struct value point[1];
    CHECK(suggest(state, 0, &set.taken, point) == HT_OK);
    CHECK(point[0].real == 0.5);
    taken_set_add(&set, point);
    CHECK(suggest(state, 1, &set.taken, point) == HT_EXHAUSTED);
    random_search.free(state);
    taken_set_fini(&set);
}

static bool has_all(void *context, const struct value point[])
{
    (void)context, (void)point;
    return true;
}

static void a_continuous_space_that_never_is_free_ends_in_words(void)
{
    const struct taken all = {has_all, NULL, 10};
    void *state = start(&mixed, 1);
    struct value point[3] = {{.whole = -7}};
    struct ht_error err = {0};
    const struct suggest_request request = {.taken = &all};
    CHECK(search_ask(&random_search, state, &request, point, &err) ==
          HT_EXHAUSTED);
    CHECK_TEXT(err.text, "64 random points in a row were tried before");
    CHECK(point[0].whole == -7); /* written only on success */
    random_search.free(state);
}

static void sixty_four_parameters_are_searched_and_one_more_is_refused(void)
{
    struct param params[HT_MAX_PARAMETERS + 1];
    for (size_t i = 0; i <= HT_MAX_PARAMETERS; i++)
        params[i] = (struct param){.name = "x", .max = 1.0};
    struct space space = {.n = HT_MAX_PARAMETERS, .params = params};
    void *state = start(&space, 1);
    struct value point[HT_MAX_PARAMETERS];
    CHECK(suggest(state, 0, &taken_nothing, point) == HT_OK);
    double mean = 0.0;
    for (size_t i = 0; i < HT_MAX_PARAMETERS; i++)
        mean += point[i].real / HT_MAX_PARAMETERS;
    CHECK(mean > 0.3 && mean < 0.7);
    random_search.free(state);
    space.n = HT_MAX_PARAMETERS + 1;
    CHECK(search_new(&random_search, &space, 1, &state, NULL) == HT_INVALID);
}

int main(void)
{
    RUN(the_same_seed_gives_the_same_points_bit_for_bit);
    RUN(results_do_not_move_the_next_point);
    RUN(another_seed_gives_other_points);
    RUN(a_log_scale_has_its_median_at_the_geometric_middle);
    RUN(whole_numbers_and_categories_are_uniform);
    RUN(parameters_do_not_move_together);
    RUN(a_space_of_32_points_gives_32_and_then_ends);
    RUN(the_last_free_points_have_equal_chances);
    RUN(the_only_free_point_is_found_whatever_the_count_says);
    RUN(a_full_space_of_a_million_points_is_noticed_at_once);
    RUN(a_single_point_is_suggested_once);
    RUN(a_continuous_space_that_never_is_free_ends_in_words);
    RUN(sixty_four_parameters_are_searched_and_one_more_is_refused);
    return check_done();
}
