/* Why a trial was stopped, as JSON and in words, and what is read from it. */
#include "tuner/search/stop_record.h"

#include <math.h>

#include "tests/check.h"

static struct metric_goal loss = {.name = "loss"};
static const struct job job = {
    .n_metrics = 1, .metrics = &loss, .early_stop = {.rule = EARLY_MEDIAN}};

/* Less is better, so values are negated. */
static const struct stop_verdict verdict = {
    .action = STOP_NOW,
    .at = 3,
    .value = -0.75,
    .threshold = -0.5,
    .compared = 9,
    .rung = -1,
    .prediction = {.known = true,
                   .at = 10,
                   .final = {-0.625},
                   .variance = {0.25},
                   .probability = 0.125}};

static const char *text_of(struct arena *arena)
{
    static const double values[] = {-1, -0.75};
    const struct stop_point points[] = {{1, &values[0]}, {3, &values[1]}};
    const struct stop_curve curve = {.n = 2, .points = points};
    return stop_record_text(arena, &job, &curve, &verdict);
}

static void numbers_are_in_the_units_of_the_user(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(text_of(arena),
               "{\"rule\":\"median\",\"metric\":\"loss\",\"at\":3,"
               "\"value\":0.75,\"threshold\":0.5,\"trials\":9,\"predicted\":["
               "{\"metric\":\"loss\",\"value\":0.625,\"deviation\":0.5}],"
               "\"end\":10,\"probability\":0.125,\"curve\":[[1,1],[3,0.75]]}");
    CHECK_TEXT(stop_record_reason(arena, &job, &verdict),
               "stopped early by the median rule at step 3: best 0.75 > "
               "median 0.5 of 9 trials; predicted final 0.625 \u00b1 0.5");
    arena_free(arena);
}

static void what_does_not_apply_is_absent(void)
{
    struct arena *arena = arena_new();
    const struct stop_curve curve = {0};
    const struct stop_verdict bare = {.action = STOP_PAUSE,
                                      .at = 2,
                                      .value = NAN,
                                      .threshold = NAN,
                                      .rung = 1};
    CHECK_TEXT(stop_record_text(arena, &job, &curve, &bare),
               "{\"rule\":\"median\",\"metric\":\"loss\",\"at\":2,"
               "\"trials\":0,\"rung\":1,\"curve\":[]}");
    CHECK_TEXT(stop_record_reason(arena, &job, &bare),
               "paused by the median rule at step 2");
    arena_free(arena);
}

static void a_prediction_replaces_the_value_of_a_trial_cut_short(void)
{
    struct arena *arena = arena_new();
    struct trial_row trial = {
        .state = TRIAL_STOPPED, .final_step = 3, .stop = text_of(arena)};
    double values[SETTING_METRICS] = {-0.75};
    CHECK(stop_record_predicted(&job, &trial, values) == 0.25);
    CHECK(values[0] == -0.625);
    values[0] = -0.75;
    trial.final_step = 10; /* where trials end by themselves */
    CHECK(stop_record_predicted(&job, &trial, values) == 0);
    CHECK(values[0] == -0.75);
    trial.state = TRIAL_SUCCEEDED;
    trial.final_step = 3;
    CHECK(stop_record_predicted(&job, &trial, values) == 0);
    arena_free(arena);
}

int main(void)
{
    RUN(numbers_are_in_the_units_of_the_user);
    RUN(what_does_not_apply_is_absent);
    RUN(a_prediction_replaces_the_value_of_a_trial_cut_short);
    return check_done();
}
