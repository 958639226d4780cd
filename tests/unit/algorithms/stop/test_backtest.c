/* What early stopping would have done to the best finished trials, on curves
 * made by hand. */
#include "algorithms/stop/backtest.h"

#include <math.h>

#include "proto/job/job.h"
#include "tests/check.h"

enum { CURVES = 24, STEPS = 40 };

static struct param rate = {
    .name = "rate", .type = PARAM_DOUBLE, .min = 0, .max = 1};
static const struct space space = {.n = 1, .params = &rate};

struct field {
    struct setting setting;
    struct early_stop options;
    struct value where[CURVES];
    struct stop_curve curves[CURVES];
    struct stop_point points[CURVES][STEPS];
    double values[CURVES][STEPS];
    struct stop_study study;
};

/* Curve i comes to 1 + i / 100; the `late` last ones, the best, are behind all
 * others in the first half. */
static void field_init(struct field *field, size_t n, size_t late)
{
    *field = (struct field){.setting = {.space = &space, .n_goals = 1},
                            .options = {.rule = EARLY_MEDIAN}};
    for (size_t i = 0; i < n; i++) {
        const double top = 1 + (double)i / 100;
        field->where[i].real = 0.04 * (double)i;
        for (size_t s = 0; s < STEPS; s++) {
            const double way = (double)(s + 1) / STEPS;
            const bool behind = i + late >= n && way < 0.5;
            field->values[i][s] = behind ? 0.01 * way : top * sqrt(way);
            field->points[i][s] =
                (struct stop_point){(double)s + 1, &field->values[i][s]};
        }
        field->curves[i] =
            (struct stop_curve){.ordinal = i,
                                .point = &field->where[i],
                                .end = STOP_END_WHOLE,
                                .n = STEPS,
                                .points = field->points[i],
                                .finals = &field->values[i][STEPS - 1]};
    }
    field->study =
        (struct stop_study){&field->setting, &field->options, n, field->curves};
}

static void late_ones_would_be_stopped(void)
{
    static struct field field;
    struct backtest found;
    field_init(&field, CURVES, 2);
    CHECK(backtest_run(&field.study, &found));
    CHECK(found.best == 5 && found.stopped == 2);
    CHECK(found.latest >= 1 && found.latest < STEPS / 2.0);
    for (size_t i = 0; i < CURVES; i++)
        CHECK(field.curves[i].end == STOP_END_WHOLE &&
              field.curves[i].n == STEPS);
}

static void those_that_are_ahead_would_not(void)
{
    static struct field field;
    struct backtest found;
    field_init(&field, CURVES, 0);
    CHECK(backtest_run(&field.study, &found));
    CHECK(found.best == 5 && found.stopped == 0);
}

static void a_rule_that_waits_stops_none_of_them(void)
{
    static struct field field;
    struct backtest found;
    field_init(&field, CURVES, 2);
    field.options.min_steps = STEPS / 2;
    CHECK(backtest_run(&field.study, &found) && found.stopped == 0);
}

static void other_studies_have_no_answer(void)
{
    static struct field field;
    struct backtest found;
    field_init(&field, BACKTEST_LEAST - 1, 2);
    CHECK(!backtest_run(&field.study, &found));
    field_init(&field, CURVES, 2);
    field.options.rule = EARLY_NONE;
    CHECK(!backtest_run(&field.study, &found));
    field.options.rule = EARLY_ASHA; /* what pauses may continue */
    CHECK(!backtest_run(&field.study, &found));
    field.options.rule = EARLY_MEDIAN;
    field.setting.n_goals = 2;
    CHECK(!backtest_run(&field.study, &found));
}

int main(void)
{
    RUN(late_ones_would_be_stopped);
    RUN(those_that_are_ahead_would_not);
    RUN(a_rule_that_waits_stops_none_of_them);
    RUN(other_studies_have_no_answer);
    return check_done();
}
