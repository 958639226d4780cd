#include "algorithms/base/algorithm.h"
#include "proto/base/limits.h"
#include "tests/check.h"
#include "tests/lib/searching.h"
#include "tests/lib/taken_set.h"

static const char *const colours[] = {"red", "green"};
static const double rates[] = {0.1, 0.2, 0.5};

static struct param params[] = {
    {.name = "colour",
     .type = PARAM_CATEGORICAL,
     .n_values = 2,
     .labels = colours},
    {.name = "rate", .type = PARAM_DISCRETE, .n_values = 3, .numbers = rates},
};
static const struct space space = {.n = 2, .params = params};

static void *start(const struct space *of)
{
    void *state = NULL;
    CHECK(search_new(&grid_search, of, 1, &state, NULL) == HT_OK);
    return state;
}

static enum ht_status suggest(void *state, uint64_t ordinal,
                              const struct taken *taken, struct value point[])
{
    const struct suggest_request request = {.ordinal = ordinal, .taken = taken};
    return search_ask(&grid_search, state, &request, point, NULL);
}

static void points_come_in_order_and_then_the_grid_is_exhausted(void)
{
    struct taken_set set;
    taken_set_init(&set, &space);
    void *state = start(&space);
    struct value point[2];
    for (uint64_t k = 0; k < 6; k++) {
        CHECK(suggest(state, k, &set.taken, point) == HT_OK);
        CHECK(point[0].whole == (int64_t)(k / 3));
        CHECK(point[1].whole == (int64_t)(k % 3));
        CHECK(taken_set_add(&set, point));
    }
    struct ht_error err = {0};
    const struct suggest_request request = {.ordinal = 6, .taken = &set.taken};
    CHECK(search_ask(&grid_search, state, &request, point, &err) ==
          HT_EXHAUSTED);
    CHECK_TEXT(err.text, "all 6 points of the search space were tried");
    grid_search.free(state);
    taken_set_fini(&set);
}

static void points_somebody_added_are_skipped(void)
{
    struct taken_set set;
    taken_set_init(&set, &space);
    void *state = start(&space);
    struct value point[2];
    for (uint64_t i = 0; i < 6; i += 2) {
        subspace_point(&space, NULL, i, point);
        taken_set_add(&set, point);
    }
    for (uint64_t k = 0; k < 3; k++) {
        CHECK(suggest(state, k, &set.taken, point) == HT_OK);
        CHECK(taken_set_add(&set, point));
    }
    CHECK(suggest(state, 3, &set.taken, point) == HT_EXHAUSTED);
    grid_search.free(state);
    taken_set_fini(&set);
}

static void a_dropped_suggestion_is_made_up_for(void)
{
    struct taken_set set;
    taken_set_init(&set, &space);
    void *state = start(&space);
    struct value point[2];
    for (uint64_t k = 0; k < 6; k++) {
        CHECK(suggest(state, k, &set.taken, point) == HT_OK);
        if (k != 2)
            taken_set_add(&set, point);
    }
    CHECK(suggest(state, 6, &set.taken, point) == HT_OK);
    CHECK(point_index(&space, point) == 2);
    grid_search.free(state);
    taken_set_fini(&set);
}

static void a_continuous_parameter_is_refused_by_name(void)
{
    struct param mixed[] = {params[0],
                            {.name = "lr", .type = PARAM_DOUBLE, .max = 1.0}};
    const struct space continuous = {.n = 2, .params = mixed};
    void *state = NULL;
    struct ht_error err = {0};
    CHECK(search_new(&grid_search, &continuous, 1, &state, &err) == HT_INVALID);
    CHECK_TEXT(err.text, "GRID_SEARCH cannot list the values of \"lr\", it is "
                         "continuous: give it a step or a list of values");
    CHECK(state == NULL);
    mixed[1].step = 0.25;
    state = start(&continuous);
    grid_search.free(state);
}

static void a_million_points_are_a_grid_and_one_more_is_not(void)
{
    struct param param = {.name = "n",
                          .type = PARAM_INTEGER,
                          .int_min = 1,
                          .int_max = HT_MAX_GRID,
                          .int_step = 1};
    const struct space large = {.n = 1, .params = &param};
    void *state = start(&large);
    struct value point[1];
    CHECK(suggest(state, HT_MAX_GRID - 1, &taken_nothing, point) == HT_OK);
    CHECK(point[0].whole == HT_MAX_GRID);
    grid_search.free(state);
    param.int_max++;
    struct ht_error err = {0};
    CHECK(search_new(&grid_search, &large, 1, &state, &err) == HT_INVALID);
    CHECK(strstr(err.text, "at most 1000000 points") != NULL);
}

static void a_grid_beyond_64_bits_is_refused_by_its_size(void)
{
    struct param many[HT_MAX_PARAMETERS];
    for (size_t i = 0; i < HT_MAX_PARAMETERS; i++)
        many[i] = params[0];
    const struct space large = {.n = HT_MAX_PARAMETERS, .params = many};
    void *state = NULL;
    struct ht_error err = {0};
    CHECK(search_new(&grid_search, &large, 1, &state, &err) == HT_INVALID);
    CHECK(strstr(err.text, "at most 1000000 points") != NULL);
}

static void a_space_without_parameters_has_one_trial(void)
{
    const struct space none = {.n = 0, .params = NULL};
    struct taken_set set;
    taken_set_init(&set, &none);
    void *state = start(&none);
    struct value point[1];
    CHECK(suggest(state, 0, &set.taken, point) == HT_OK);
    taken_set_add(&set, point);
    CHECK(suggest(state, 1, &set.taken, point) == HT_EXHAUSTED);
    grid_search.free(state);
    taken_set_fini(&set);
}

static void algorithms_are_found_by_vertex_name(void)
{
    CHECK(algorithm_find("RANDOM_SEARCH") == &random_search);
    CHECK(algorithm_find("GRID_SEARCH") == &grid_search);
    CHECK(algorithm_find("grid_search") == NULL);
    CHECK(algorithm_find(algorithm_default()->name) == algorithm_default());
}

int main(void)
{
    RUN(points_come_in_order_and_then_the_grid_is_exhausted);
    RUN(points_somebody_added_are_skipped);
    RUN(a_dropped_suggestion_is_made_up_for);
    RUN(a_continuous_parameter_is_refused_by_name);
    RUN(a_million_points_are_a_grid_and_one_more_is_not);
    RUN(a_grid_beyond_64_bits_is_refused_by_its_size);
    RUN(a_space_without_parameters_has_one_trial);
    RUN(algorithms_are_found_by_vertex_name);
    return check_done();
}
