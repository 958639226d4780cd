#include "algorithms/insight/slice.h"

#include <math.h>

#include "algorithms/base/rng.h"
#include "tests/check.h"

static const char *const names[] = {"a", "b"};
static const struct value second = {.whole = 1};
static struct condition when_second = {.parent = 1, .n = 1, .values = &second};
static struct param params[] = {
    {.name = "rate",
     .type = PARAM_DOUBLE,
     .scale = SCALE_LOG,
     .min = 1e-4,
     .max = 1},
    {.name = "kind", .type = PARAM_CATEGORICAL, .n_values = 2, .labels = names},
    {.name = "child", .type = PARAM_DOUBLE, .max = 1, .when = &when_second},
    {.name = "units",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 5,
     .int_step = 1},
    {.name = "wide",
     .type = PARAM_INTEGER,
     .int_min = INT64_MIN / 2,
     .int_max = INT64_MAX / 2,
     .int_step = 1},
};
static const struct space space = {.n = 5, .params = params};

static struct encoding encoding;
static struct history history;
static struct goal_model model;

/* Best at rate 1e-2, in thousands. */
static double value_of(const struct value point[])
{
    return 1000 - 100 * pow(log10(point[0].real) + 2, 2) +
           (point[1].whole == 1 ? 20 : 0);
}

static void open_model(void)
{
    struct goal_hyper hyper;
    encoding_init(&encoding, &space);
    history_init(&history, &encoding, 1);
    for (uint64_t k = 0; k < 60; k++) {
        const struct rng_place place = {5, k, 0};
        struct value point[5];
        for (size_t i = 0; i < 5; i++)
            point[i] = space_param_from_unit(&params[i], rng_unit(&place, i));
        space_settle(&space, point);
        const double value = value_of(point);
        const struct observation seen = {
            .point = point, .feasible = true, .values = &value};
        history_add(&history, &seen);
    }
    goal_model_hyper_init(&hyper, 0, NOISE_UNKNOWN);
    CHECK(goal_model_init(&model, &history, &hyper, 1, 0));
}

static void an_axis_goes_from_end_to_end_on_its_scale(void)
{
    struct slice_axis axis;
    slice_axis_init(&axis, &space, 0, params[0].scale, 5);
    CHECK(axis.n == 5);
    for (size_t i = 0; i < 5; i++)
        CHECK(fabs(log10(axis.values[i].real) - ((double)i - 4)) < 1e-9);
    slice_axis_fini(&axis);
    slice_axis_init(&axis, &space, 3, params[3].scale, 50);
    CHECK(axis.n == 5);
    for (size_t i = 0; i < 5; i++)
        CHECK(axis.values[i].whole == (int64_t)i + 1);
    slice_axis_fini(&axis);
    slice_axis_init(&axis, &space, 4, params[4].scale, 3);
    CHECK(axis.n == 3);
    CHECK(axis.values[0].whole == INT64_MIN / 2);
    CHECK(axis.values[2].whole == INT64_MAX / 2);
    slice_axis_fini(&axis);
    struct param doubling = {.name = "d",
                             .type = PARAM_INTEGER,
                             .scale = SCALE_LOG,
                             .int_min = 1,
                             .int_max = 4096,
                             .int_step = 1};
    slice_axis_init(&axis, &(struct space){.n = 1, .params = &doubling}, 0,
                    SCALE_LOG, 49);
    CHECK(axis.n > 30 && axis.n < 49); /* no number twice */
    CHECK(axis.values[0].whole == 1 && axis.values[1].whole == 2);
    CHECK(axis.values[axis.n - 1].whole == 4096);
    for (size_t i = 12; i < axis.n; i++)
        CHECK(axis.values[i].whole * 4 < axis.values[i - 1].whole * 5);
    slice_axis_fini(&axis);
    doubling.scale = SCALE_LINEAR; /* the question may say another */
    slice_axis_init(&axis, &(struct space){.n = 1, .params = &doubling}, 0,
                    SCALE_LOG, 5);
    CHECK(axis.n == 5);
    CHECK(axis.values[2].whole > 32 && axis.values[2].whole < 128);
    slice_axis_fini(&axis);
    struct param widest = {.name = "w",
                           .type = PARAM_INTEGER,
                           .int_min = INT64_MIN,
                           .int_max = INT64_MAX - 1,
                           .int_step = 1};
    slice_axis_init(&axis, &(struct space){.n = 1, .params = &widest}, 0,
                    widest.scale, 3);
    CHECK(axis.values[1].whole > -4096 && axis.values[1].whole < 4096);
    CHECK(axis.values[2].whole == INT64_MAX - 1);
    slice_axis_fini(&axis);
}

static void a_line_shows_the_values_it_was_told(void)
{
    const struct value at[5] = {{.real = 1e-2},
                                {.whole = 1},
                                {.real = 0.5},
                                {.whole = 3},
                                {.whole = 0}};
    struct slice_cell cells[9];
    struct slice_axis axis;
    slice_axis_init(&axis, &space, 0, params[0].scale, 9);
    slice(&encoding, &model, at, 1, &axis, cells);
    for (size_t i = 0; i < 9; i++) {
        struct value there[5] = {axis.values[i], at[1], at[2], at[3], at[4]};
        CHECK(!cells[i].absent);
        CHECK(cells[i].value.low <= cells[i].value.median &&
              cells[i].value.median <= cells[i].value.high);
        CHECK(fabs(cells[i].value.median - value_of(there)) < 60);
    }
    CHECK(cells[4].value.median > cells[0].value.median + 100);
    slice_axis_fini(&axis);
}

static void what_has_no_place_is_absent(void)
{
    const struct value at[5] = {{.real = 1e-2},
                                {.whole = 0},
                                {.absent = true},
                                {.whole = 3},
                                {.whole = 0}};
    struct slice_cell cells[2 * 4];
    struct slice_axis axes[2];
    slice_axis_init(&axes[0], &space, 1, params[1].scale, 9);
    slice_axis_init(&axes[1], &space, 2, params[2].scale, 4);
    slice(&encoding, &model, at, 2, axes, cells);
    for (size_t i = 0; i < 4; i++) {
        CHECK(cells[i].absent);
        CHECK(!cells[4 + i].absent);
        CHECK(isfinite(cells[4 + i].value.median));
    }
    slice_axis_fini(&axes[0]);
    slice_axis_fini(&axes[1]);
}

int main(void)
{
    algorithm_init();
    open_model();
    RUN(an_axis_goes_from_end_to_end_on_its_scale);
    RUN(a_line_shows_the_values_it_was_told);
    RUN(what_has_no_place_is_absent);
    goal_model_fini(&model);
    history_fini(&history);
    encoding_fini(&encoding);
    return check_done();
}
