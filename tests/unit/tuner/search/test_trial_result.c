/* What a search learns from a trial: values, bounds, predictions. */
#include "tuner/search/trial_result.h"

#include <math.h>

#include "tests/check.h"

static struct metric_goal goals[] = {
    {.name = "accuracy", .maximize = true},
    {.name = "loss"},
    {.name = "delay", .safety = true, .threshold = 20}};
static const struct job one = {.n_metrics = 1, .metrics = goals};
static const struct job three = {.n_metrics = 3, .metrics = goals};

static void minimised_metrics_are_negated(void)
{
    double values[SETTING_METRICS];
    const double objective = 0.5;
    CHECK(trial_result_values(
        &three, &objective,
        "{\"delay\":15,\"loss\":2,\"accuracy\":0.25,\"x\":1}", values));
    CHECK(values[0] == 0.5); /* the objective, not its metric */
    CHECK(values[1] == -2 && values[2] == -15);
}

static void a_missing_metric_is_nan(void)
{
    double values[SETTING_METRICS];
    const double objective = 0.5, infinite = INFINITY;
    CHECK(
        !trial_result_values(&three, &objective, "{\"loss\":\"nan\"}", values));
    CHECK(values[0] == 0.5 && isnan(values[1]) && isnan(values[2]));
    CHECK(!trial_result_values(&three, &objective, NULL, values));
    CHECK(!trial_result_values(&one, NULL, "{\"accuracy\":1}", values));
    CHECK(isnan(values[0]));
    CHECK(!trial_result_values(&one, &infinite, "{}", values));
}

static void a_bound_belongs_to_the_safe_side(void)
{
    const double at[SETTING_METRICS] = {0, 0, -20},
                 above[SETTING_METRICS] = {0, 0, -20.5},
                 none[SETTING_METRICS] = {0, 0, NAN};
    CHECK(trial_result_is_safe(&three, at));
    CHECK(!trial_result_is_safe(&three, above));
    CHECK(!trial_result_is_safe(&three, none));
    CHECK(trial_result_is_safe(&one, none));
}

#define PREDICTED                                                              \
    "{\"predicted\":[{\"metric\":\"accuracy\",\"value\":0.75,"                 \
    "\"deviation\":0.5}],\"end\":100}"

static void a_pause_counts_with_its_prediction(void)
{
    double values[SETTING_METRICS];
    const struct value point[] = {{.real = 1}};
    const struct trial_row trial = {.state = TRIAL_PAUSED, .stop = PREDICTED};
    const struct observation seen =
        trial_result_read(&one, &trial, point, values);
    CHECK(seen.feasible && seen.values == values && seen.point == point);
    CHECK(values[0] == 0.75 && seen.variance == 0.25);
    CHECK(trial_result_is_foretold(&one, &trial));
    CHECK(!trial_result_is_foretold(&three, &trial)); /* one metric of three */
}

static void a_pause_without_a_prediction_has_no_result(void)
{
    double values[SETTING_METRICS];
    const struct trial_row trial = {.state = TRIAL_PAUSED, .stop = "{}"};
    const struct observation seen =
        trial_result_read(&one, &trial, NULL, values);
    CHECK(!seen.feasible && seen.variance == 0);
    CHECK(!trial_result_is_foretold(&one, &trial));
}

static void a_stopped_trial_has_the_predicted_values(void)
{
    double values[SETTING_METRICS];
    struct trial_row trial = {.state = TRIAL_STOPPED,
                              .stop = PREDICTED,
                              .has_objective = true,
                              .objective = 0.5,
                              .final_step = 10};
    struct observation seen = trial_result_read(&one, &trial, NULL, values);
    CHECK(seen.feasible && values[0] == 0.75 && seen.variance == 0.25);
    CHECK(!trial_result_is_foretold(&one, &trial)); /* it is not paused */
    trial.final_step = 100; /* it reached its end nevertheless */
    seen = trial_result_read(&one, &trial, NULL, values);
    CHECK(seen.feasible && values[0] == 0.5 && seen.variance == 0);
}

static void a_failed_trial_is_infeasible(void)
{
    double values[SETTING_METRICS];
    const struct trial_row trial = {.state = TRIAL_FAILED, .stop = PREDICTED};
    CHECK(!trial_result_read(&one, &trial, NULL, values).feasible);
}

int main(void)
{
    RUN(minimised_metrics_are_negated);
    RUN(a_missing_metric_is_nan);
    RUN(a_bound_belongs_to_the_safe_side);
    RUN(a_pause_counts_with_its_prediction);
    RUN(a_pause_without_a_prediction_has_no_result);
    RUN(a_stopped_trial_has_the_predicted_values);
    RUN(a_failed_trial_is_infeasible);
    return check_done();
}
