#include "algorithms/base/algorithm.h"
#include "proto/base/limits.h"
#include "tests/check.h"
#include "tests/lib/taken_set.h"

static const double rates[] = {0.1, 0.2, 0.5};
static const char *const colours[] = {"red", "green"};

static struct param mixed_params[] = {
    {.name = "whole",
     .type = PARAM_INTEGER,
     .int_min = -4,
     .int_max = 5,
     .int_step = 3},
    {.name = "rate", .type = PARAM_DISCRETE, .n_values = 3, .numbers = rates},
    {.name = "colour",
     .type = PARAM_CATEGORICAL,
     .n_values = 2,
     .labels = colours},
    {.name = "stepped",
     .type = PARAM_DOUBLE,
     .min = 0.1,
     .max = 0.5,
     .step = 0.1},
};
static const struct space mixed = {.n = 4, .params = mixed_params};

static void the_last_parameter_changes_fastest(void)
{
    struct value point[4];
    CHECK(space_size(&mixed) == 4 * 3 * 2 * 5);
    subspace_point(&mixed, NULL, 0, point);
    CHECK(point[0].whole == -4 && point[1].whole == 0 && point[2].whole == 0);
    CHECK(point[3].real == 0.1);
    subspace_point(&mixed, NULL, 1, point);
    CHECK(point[2].whole == 0 && point[3].real == 0.2);
    subspace_point(&mixed, NULL, 5, point);
    CHECK(point[1].whole == 0 && point[2].whole == 1 && point[3].real == 0.1);
    subspace_point(&mixed, NULL, 119, point);
    CHECK(point[0].whole == 5 && point[1].whole == 2 && point[2].whole == 1);
    CHECK(point[3].real == 0.5);
}

static void every_index_comes_back_from_its_point(void)
{
    for (uint64_t i = 0; i < 120; i++) {
        struct value point[4];
        subspace_point(&mixed, NULL, i, point);
        CHECK(point_index(&mixed, point) == i);
    }
}

static void a_million_levels_come_back_too(void)
{
    struct param param = {.name = "n",
                          .type = PARAM_INTEGER,
                          .int_min = 0,
                          .int_max = HT_MAX_GRID - 1,
                          .int_step = 1};
    const struct space space = {.n = 1, .params = &param};
    for (uint64_t i = 0; i < HT_MAX_GRID; i += 997) {
        struct value point[1];
        subspace_point(&space, NULL, i, point);
        CHECK(point_index(&space, point) == i);
    }
}

static void a_space_without_parameters_has_one_point(void)
{
    const struct space none = {.n = 0, .params = NULL};
    struct value point[1];
    subspace_point(&none, NULL, 0, point);
    CHECK(point_index(&none, point) == 0);
}

static void the_next_free_index_skips_what_is_taken(void)
{
    struct taken_set set;
    taken_set_init(&set, &mixed);
    for (uint64_t i = 3; i < 7; i++) {
        struct value point[4];
        subspace_point(&mixed, NULL, i, point);
        taken_set_add(&set, point);
    }
    const struct suggest_request request = {.taken = &set.taken};
    CHECK(algorithm_request_next(&mixed, &request, 0, 120) == 0);
    CHECK(algorithm_request_next(&mixed, &request, 3, 120) == 7);
    CHECK(algorithm_request_next(&mixed, &request, 3, 7) == 7);
    taken_set_fini(&set);
}

int main(void)
{
    RUN(the_last_parameter_changes_fastest);
    RUN(every_index_comes_back_from_its_point);
    RUN(a_million_levels_come_back_too);
    RUN(a_space_without_parameters_has_one_point);
    RUN(the_next_free_index_skips_what_is_taken);
    return check_done();
}
