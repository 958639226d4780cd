/* An open space grows by what trials say, and never shrinks. */
#include "tests/check.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/space/space.h"

static const char *const few[] = {"a", "b"};
static const char *const others[] = {"c", "a"};
static const double small[] = {1, 4};
static const double large[] = {0.5, 4, 9};

static struct param of(const char *name, enum param_type type)
{
    return (struct param){.name = name, .type = type, .int_step = 1};
}

static struct param real(double min, double max)
{
    struct param param = of("x", PARAM_DOUBLE);
    param.min = min;
    param.max = max;
    return param;
}

static void ranges_hold_both(void)
{
    struct arena *arena = arena_new();
    struct param mine = real(0, 1), wide = real(-1, 0.5);
    struct param whole = of("n", PARAM_INTEGER);
    whole.int_min = 2;
    whole.int_max = 8;
    struct param params[] = {mine, whole};
    struct space space = {.n = 2, .params = params, .open = true};
    struct param more[] = {wide, whole};
    more[1].int_max = 9;
    bool changed;
    CHECK(space_widen(arena, &space, &(struct space){.n = 2, .params = more},
                      &changed, NULL) == HT_OK);
    CHECK(changed && space.n == 2 && space.open);
    CHECK(space.params[0].min == -1 && space.params[0].max == 1);
    CHECK(space.params[1].int_min == 2 && space.params[1].int_max == 9);
    CHECK(params[0].min == 0); /* what was read before is left alone */
    arena_free(arena);
}

static void lists_keep_their_places_and_numbers_their_order(void)
{
    struct arena *arena = arena_new();
    struct param params[] = {of("c", PARAM_CATEGORICAL),
                             of("d", PARAM_DISCRETE)};
    struct param more[] = {params[1], params[0]};
    params[0].labels = few;
    params[1].numbers = small;
    more[1].labels = others;
    more[0].numbers = large;
    params[0].n_values = params[1].n_values = more[1].n_values = 2;
    more[0].n_values = 3;
    struct space space = {.n = 2, .params = params};
    bool changed;
    CHECK(space_widen(arena, &space, &(struct space){.n = 2, .params = more},
                      &changed, NULL) == HT_OK);
    CHECK(changed && space.params[0].n_values == 3);
    CHECK(strcmp(space.params[0].labels[0], "a") == 0);
    CHECK(strcmp(space.params[0].labels[2], "c") == 0);
    static const double all[] = {0.5, 1, 4, 9};
    CHECK(space.params[1].n_values == 4);
    CHECK(memcmp(space.params[1].numbers, all, sizeof all) == 0);
    CHECK(space_widen(arena, &space, &(struct space){.n = 2, .params = more},
                      &changed, NULL) == HT_OK);
    CHECK(!changed);
    arena_free(arena);
}

static void another_kind_and_too_many_are_refused(void)
{
    struct arena *arena = arena_new();
    struct param mine = real(0, 1), other = of("x", PARAM_INTEGER);
    struct param logarithmic = real(0.5, 1);
    logarithmic.scale = SCALE_LOG;
    struct space space = {.n = 1, .params = &mine};
    struct ht_error err;
    bool changed = true;
    CHECK(space_widen(arena, &space, &(struct space){.n = 1, .params = &other},
                      &changed, &err) == HT_INVALID);
    CHECK(strstr(err.text, "x has another type") != NULL);
    CHECK(space_widen(arena, &space,
                      &(struct space){.n = 1, .params = &logarithmic}, &changed,
                      NULL) == HT_INVALID);
    struct param many[HT_MAX_PARAMETERS];
    for (int i = 0; i < HT_MAX_PARAMETERS; i++)
        many[i] = of(arena_printf(arena, "p%d", i), PARAM_INTEGER);
    CHECK(space_widen(arena, &space,
                      &(struct space){.n = HT_MAX_PARAMETERS, .params = many},
                      &changed, NULL) == HT_INVALID);
    CHECK(space.n == 1 && space.params == &mine);
    arena_free(arena);
}

static void a_point_of_an_open_space_may_lack_values(void)
{
    struct param params[] = {real(0, 1), of("n", PARAM_INTEGER)};
    params[1].int_max = 9;
    struct space space = {.n = 2, .params = params, .open = true};
    struct value point[2];
    CHECK(space_point_parse(&space, "{\"n\":3}", point, NULL) == HT_OK);
    CHECK(point[0].absent && point[1].whole == 3);
    CHECK(space_point_parse(&space, "{\"n\":3,\"x\":1}", point, NULL) == HT_OK);
    CHECK(!point[0].absent && point[0].real == 1);
    space.open = false;
    CHECK(space_point_parse(&space, "{\"n\":3}", point, NULL) == HT_INVALID);
}

int main(void)
{
    RUN(ranges_hold_both);
    RUN(lists_keep_their_places_and_numbers_their_order);
    RUN(another_kind_and_too_many_are_refused);
    RUN(a_point_of_an_open_space_may_lack_values);
    return check_done();
}
