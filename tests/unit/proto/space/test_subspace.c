#include <string.h>

#include "proto/base/limits.h"
#include "proto/space/space.h"
#include "tests/check.h"

static const char *const names[] = {"sgd", "adam", "rmsprop"};
static const struct value with_momentum[] = {{.whole = 0}, {.whole = 2}};
static const struct value with_decay[] = {{.whole = 2}, {.whole = 1}};
static const struct value third_layer[] = {{.whole = 3}};
static struct condition when_momentum = {
    .parent = 0, .n = 2, .values = with_momentum};
static struct condition when_decay = {
    .parent = 0, .n = 2, .values = with_decay};
static struct condition when_third = {
    .parent = 2, .n = 1, .values = third_layer};
static struct condition when_both = {
    .parent = 0, .n = 2, .values = with_momentum, .next = &when_third};
static struct param params[] = {
    {.name = "opt", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
    {.name = "lr", .type = PARAM_DOUBLE, .max = 1},
    {.name = "layers",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 4,
     .int_step = 1},
    {.name = "momentum",
     .type = PARAM_DOUBLE,
     .max = 1,
     .when = &when_momentum},
    {.name = "decay", .type = PARAM_DOUBLE, .max = 1, .when = &when_decay},
    {.name = "units",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 8,
     .int_step = 1,
     .when = &when_both},
};
enum { OPT, LR, LAYERS, MOMENTUM, DECAY, UNITS, N };
static const struct space space = {.n = N, .params = params};

/* A point of which nothing is given. */
static void give_nothing(struct value given[])
{
    for (size_t i = 0; i < N; i++)
        given[i] = (struct value){.absent = true};
}

static struct subspace make(struct arena *arena, const struct value given[])
{
    struct subspace part;
    size_t at;
    CHECK(subspace_make(arena, &space, given, &part, &at, NULL) == HT_OK);
    return part;
}

static void a_given_value_is_the_only_one(void)
{
    struct arena *arena = arena_new();
    struct value given[N], point[N] = {{.whole = 1}, {.real = 0.5}};
    give_nothing(given);
    given[LR] = (struct value){.real = 0.1};
    const struct subspace part = make(arena, given);
    point[LAYERS].whole = 2;
    space_settle(&space, point);
    CHECK(!subspace_has(&part, point));
    subspace_settle(&space, &part, point);
    CHECK(point[LR].real == 0.1 && point[OPT].whole == 1 &&
          point[LAYERS].whole == 2);
    CHECK(subspace_has(&part, point));
    CHECK(!subspace_leaves(&part, LR) && subspace_leaves(&part, OPT) &&
          subspace_leaves(NULL, LR));
    CHECK(subspace_has(NULL, point));
    arena_free(arena);
}

static void a_child_narrows_its_parents(void)
{
    struct arena *arena = arena_new();
    struct value given[N];
    size_t seen[3] = {0};
    give_nothing(given);
    given[MOMENTUM] = (struct value){.real = 0.9};
    const struct subspace part = make(arena, given);
    CHECK(subspace_levels(&space, &part, OPT) == 2);
    CHECK(subspace_levels(&space, &part, LAYERS) == 4);
    for (int64_t opt = 0; opt < 3; opt++) {
        struct value point[N] = {{.whole = opt}};
        point[LAYERS].whole = point[UNITS].whole = 1;
        subspace_settle(&space, &part, point);
        CHECK(subspace_has(&part, point) && point[MOMENTUM].real == 0.9);
        seen[point[OPT].whole]++;
    }
    CHECK(seen[0] > 0 && seen[1] == 0 && seen[2] > 0);
    arena_free(arena);
}

static void children_narrow_to_what_they_share(void)
{
    struct arena *arena = arena_new();
    struct value given[N], point[N] = {{.whole = 1}};
    give_nothing(given);
    given[DECAY] = (struct value){.real = 0.2};
    given[UNITS] = (struct value){.whole = 5};
    const struct subspace part = make(arena, given);
    CHECK(!subspace_leaves(&part, OPT) && !subspace_leaves(&part, LAYERS));
    point[LAYERS].whole = 1;
    subspace_settle(&space, &part, point);
    CHECK(point[OPT].whole == 2 && point[LAYERS].whole == 3 &&
          point[UNITS].whole == 5 && !point[MOMENTUM].absent);
    arena_free(arena);
}

static void values_that_exclude_each_other_are_refused(void)
{
    struct arena *arena = arena_new();
    struct value given[N];
    struct subspace part;
    struct ht_error err;
    size_t at = N;
    give_nothing(given);
    given[OPT] = (struct value){.whole = 1};
    given[MOMENTUM] = (struct value){.real = 0.9};
    CHECK(subspace_make(arena, &space, given, &part, &at, &err) == HT_INVALID);
    CHECK(at == MOMENTUM);
    CHECK(strcmp(err.text,
                 "\"momentum\" exists only beside other values of \"opt\"") ==
          0);
    given[OPT] = (struct value){.absent = true};
    given[LAYERS] = (struct value){.whole = 2};
    given[UNITS] = (struct value){.whole = 5};
    CHECK(subspace_make(arena, &space, given, &part, &at, &err) == HT_INVALID);
    CHECK(at == UNITS);
    arena_free(arena);
}

static void a_part_may_be_finite_where_the_space_is_not(void)
{
    struct arena *arena = arena_new();
    struct value given[N];
    give_nothing(given);
    given[LR] = given[MOMENTUM] = (struct value){.real = 0.5};
    struct subspace part = make(arena, given);
    CHECK(space_size(&space) == 0 && subspace_size(&space, &part) == 0);
    given[DECAY] = (struct value){.real = 0.5};
    part = make(arena, given);
    CHECK(subspace_size(&space, &part) == 4 * 8);
    CHECK(subspace_level(&space, &part, OPT, 0).whole == 2);
    CHECK(subspace_level(&space, &part, LR, 0).real == 0.5);
    CHECK(subspace_level(&space, &part, LAYERS, 3).whole == 4);
    arena_free(arena);
}

static void a_part_tells_what_all_its_points_have(void)
{
    struct arena *arena = arena_new();
    struct value given[N], point[N];
    give_nothing(given);
    given[UNITS] = (struct value){.whole = 8};
    struct subspace part = make(arena, given);
    /* sgd or rmsprop, so whether there is a decay is not known */
    CHECK(!subspace_common(&part, point));
    CHECK(point[LAYERS].whole == 3 && !point[LAYERS].absent);
    CHECK(point[UNITS].whole == 8 && point[OPT].absent && point[DECAY].absent);
    given[OPT] = (struct value){.whole = 0};
    given[LR] = (struct value){.real = 0.5};
    part = make(arena, given);
    CHECK(!subspace_common(&part, point));
    CHECK(point[MOMENTUM].absent && point[OPT].whole == 0);
    given[MOMENTUM] = (struct value){.real = 0.25};
    part = make(arena, given);
    CHECK(subspace_common(&part, point));
    CHECK(point[DECAY].absent && point[MOMENTUM].real == 0.25);
    arena_free(arena);
}

/* ---- points by their index ---- */

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

/* The place of its value of each parameter is a digit of the index. */
static void every_index_has_its_own_point(void)
{
    for (uint64_t i = 0; i < 120; i++) {
        struct value point[4];
        subspace_point(&mixed, NULL, i, point);
        const uint64_t whole = (uint64_t)(point[0].whole + 4) / 3;
        const uint64_t step = (uint64_t)(point[3].real * 10 + 0.5) - 1;
        CHECK(((whole * 3 + (uint64_t)point[1].whole) * 2 +
               (uint64_t)point[2].whole) *
                      5 +
                  step ==
              i);
    }
}

static void the_levels_of_a_large_grid_are_counted_exactly(void)
{
    struct param param = {.name = "n",
                          .type = PARAM_INTEGER,
                          .int_min = 0,
                          .int_max = HT_MAX_GRID - 1,
                          .int_step = 1};
    const struct space one = {.n = 1, .params = &param};
    for (uint64_t i = 0; i < HT_MAX_GRID; i += 997) {
        struct value point[1];
        subspace_point(&one, NULL, i, point);
        CHECK((uint64_t)point[0].whole == i);
    }
}

static void a_space_without_parameters_has_one_point(void)
{
    const struct space none = {.n = 0, .params = NULL};
    CHECK(space_size(&none) == 1);
    subspace_point(&none, NULL, 0, NULL);
}

int main(void)
{
    RUN(a_given_value_is_the_only_one);
    RUN(a_child_narrows_its_parents);
    RUN(children_narrow_to_what_they_share);
    RUN(values_that_exclude_each_other_are_refused);
    RUN(a_part_may_be_finite_where_the_space_is_not);
    RUN(a_part_tells_what_all_its_points_have);
    RUN(the_last_parameter_changes_fastest);
    RUN(every_index_has_its_own_point);
    RUN(the_levels_of_a_large_grid_are_counted_exactly);
    RUN(a_space_without_parameters_has_one_point);
    return check_done();
}
