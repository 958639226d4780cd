/* The median, decay curve and convex rules on curves made by hand, and what
 * they foretell. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/stop/early_stop.h"
#include "algorithms/stop/final_model.h"
#include "algorithms/stop/learning_curve.h"
#include "tests/check.h"

enum { MOST = 16, STEPS = 100, GOALS = 2 };

static struct param rate = {
    .name = "rate", .type = PARAM_DOUBLE, .min = 0, .max = 1};
static const struct space space = {.n = 1, .params = &rate};

struct field {
    struct setting setting;
    struct early_stop options;
    struct value where[MOST];
    struct stop_curve curves[MOST];
    struct stop_point points[MOST][STEPS];
    double values[MOST][STEPS][GOALS];
    struct stop_study study;
};

static void field_init(struct field *field, enum job_early_stop rule)
{
    *field = (struct field){.setting = {.space = &space, .n_goals = 1},
                            .options = {.rule = rule}};
    field->study = (struct stop_study){.setting = &field->setting,
                                       .options = &field->options,
                                       .curves = field->curves};
}

/* Adds a curve of `steps` values, at steps from 1. */
static size_t add(struct field *field, enum stop_end end, size_t steps,
                  const double values[])
{
    const size_t i = field->study.n++;
    field->where[i].real = 0.05 * (double)i;
    for (size_t s = 0; s < steps; s++) {
        field->values[i][s][0] = values[s];
        field->points[i][s] =
            (struct stop_point){(double)s + 1, field->values[i][s]};
    }
    field->curves[i] = (struct stop_curve){.ordinal = i,
                                           .point = &field->where[i],
                                           .end = end,
                                           .n = steps,
                                           .points = field->points[i]};
    if (end == STOP_END_WHOLE)
        field->curves[i].finals = field->values[i][steps - 1];
    return i;
}

/* One that comes near to `top` as 1 - exp(-step / pace). */
static size_t learn(struct field *field, enum stop_end end, size_t steps,
                    double top, double pace)
{
    double values[STEPS];
    for (size_t s = 0; s < steps; s++)
        values[s] = top * (1 - exp(-((double)s + 1) / pace));
    return add(field, end, steps, values);
}

/* Seven that ended by themselves at step 40, at 0.7 to 0.94. */
static void learn_seven(struct field *field)
{
    for (int i = 0; i < 7; i++)
        learn(field, STOP_END_WHOLE, 40, 0.7 + 0.04 * i, 4 + i);
}

/* The second goal of every step of a curve. */
static void set_other(struct field *field, size_t curve, double value)
{
    field->setting.n_goals = 2;
    for (size_t s = 0; s < STEPS; s++)
        field->values[curve][s][1] = value;
}

static struct stop_verdict judge(const struct field *field, size_t current)
{
    struct stop_verdict verdict;
    early_stop_judge(&field->study, current, &verdict);
    return verdict;
}

static bool stops(const struct field *field, size_t current)
{
    return judge(field, current).action == STOP_NOW;
}

static bool is_near(double got, double want, double tolerance)
{
    if (fabs(got - want) <= tolerance)
        return true;
    printf("# got %.6g, want %.6g\n", got, want);
    return false;
}

/* --- curves --- */

static void a_curve_answers_without_what_was_not_told(void)
{
    struct field f;
    double value = -1;
    field_init(&f, EARLY_NONE);
    add(&f, STOP_END_OPEN, 6, (double[]){NAN, 1, INFINITY, 4, 2, NAN});
    const struct learning_curve curve = {&f.curves[0], 0};
    CHECK(learning_curve_count(&curve, 6) == 3);
    CHECK(learning_curve_mean(&curve, 4, &value) && value == 2.5);
    CHECK(learning_curve_best(&curve, 6, &value) && value == 4);
    CHECK(learning_curve_end(&curve, &value) && value == 5);
    CHECK(learning_curve_value(&curve, 3, &value) && value == 2.5);
    CHECK(learning_curve_value(&curve, 4, &value) && value == 4);
    CHECK(learning_curve_value(&curve, 0, &value) && value == 1);
    CHECK(learning_curve_value(&curve, 99, &value) && value == 2);
    value = -1;
    CHECK(!learning_curve_mean(&curve, 1, &value) && value == -1);
    CHECK(!learning_curve_best(&curve, 1, &value) && value == -1);
}

static void an_even_count_has_the_mean_of_the_middle(void)
{
    double values[] = {4, 1, 3, 2};
    CHECK(learning_curve_median(4, values) == 2.5);
    CHECK(values[0] == 1 && values[3] == 4);
    CHECK(learning_curve_median(3, values) == 2);
}

/* --- median --- */

/* Running averages up to step 2: 0.3, 0.4, 0.1, 0.5, 0.2, of six steps. */
static void add_five(struct field *field)
{
    static const double curves[][6] = {{0.2, 0.4, 0.5, 0.5, 0.5, 0.5},
                                       {0.3, 0.5, 0.7, 0.7, 0.7, 0.7},
                                       {0.1, NAN, 0.2, 0.9, 0.9, 0.9},
                                       {0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
                                       {0.0, 0.4, 0.8, 0.8, 0.8, 0.8}};
    for (size_t i = 0; i < 5; i++)
        add(field, STOP_END_WHOLE, 6, curves[i]);
}

static void only_a_strictly_worse_best_stops(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    f.options.min_measurements = 2;
    add_five(&f);
    const size_t equal = add(&f, STOP_END_OPEN, 2, (double[]){0.15, 0.3});
    const size_t worse = add(&f, STOP_END_OPEN, 2, (double[]){0.15, 0.29});
    const size_t fallen = add(&f, STOP_END_OPEN, 2, (double[]){0.9, 0.1});
    CHECK(!stops(&f, equal));
    CHECK(!stops(&f, fallen));
    const struct stop_verdict verdict = judge(&f, worse);
    CHECK(verdict.action == STOP_NOW && verdict.at == 2 && verdict.rung == -1);
    CHECK(verdict.value == 0.29 && verdict.compared == 5);
    CHECK(is_near(verdict.threshold, 0.3, 1e-15));
}

static void stopped_and_running_trials_are_no_median(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    f.options.min_measurements = 2;
    add_five(&f);
    for (int i = 0; i < 3; i++)
        add(&f, i < 2 ? STOP_END_EARLY : STOP_END_OPEN, 2,
            (double[]){0.9, 0.9});
    const size_t fine = add(&f, STOP_END_OPEN, 2, (double[]){0.15, 0.3});
    CHECK(!stops(&f, fine));
    CHECK(judge(&f, fine).compared == 5);
}

static void nothing_stops_before_enough_is_known(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    f.options.min_measurements = 2;
    add_five(&f);
    const size_t bad = add(&f, STOP_END_OPEN, 2, (double[]){0, 0});
    const size_t first = add(&f, STOP_END_OPEN, 1, (double[]){0});
    const size_t silent = add(&f, STOP_END_OPEN, 0, NULL);
    const size_t nan = add(&f, STOP_END_OPEN, 3, (double[]){NAN, NAN, NAN});
    CHECK(stops(&f, bad) && !stops(&f, first));
    CHECK(!stops(&f, silent) && !stops(&f, nan));
    f.curves[0].n = 0; /* ended well, but told nothing on its way */
    CHECK(!stops(&f, bad));
    f.options.min_trials = 4;
    CHECK(stops(&f, bad));
    f.options.min_measurements = 1;
    CHECK(stops(&f, first));
    f.options.min_measurements = 3;
    CHECK(!stops(&f, bad));
    f.options = (struct early_stop){
        .rule = EARLY_MEDIAN, .min_trials = 4, .min_steps = 3};
    CHECK(!stops(&f, bad));
}

static void no_rule_stops_before_a_tenth_of_the_way(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    learn_seven(&f);
    const double bad[STEPS] = {0};
    const size_t worse = add(&f, STOP_END_OPEN, 7, bad);
    CHECK(stops(&f, worse));
    f.options.max_steps = 70;
    CHECK(stops(&f, worse));
    f.options.max_steps = 71;
    CHECK(!stops(&f, worse));
    f.options.min_steps = 7;
    CHECK(stops(&f, worse));
}

static void no_rule_stops_before_four_reports(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    learn_seven(&f);
    const double bad[STEPS] = {0};
    const size_t worse = add(&f, STOP_END_OPEN, 4, bad);
    CHECK(stops(&f, worse));
    f.values[worse][2][0] = NAN;
    CHECK(!stops(&f, worse));
    f.options.min_measurements = 3;
    CHECK(stops(&f, worse));
    f.options = (struct early_stop){.rule = EARLY_MEDIAN, .min_steps = 4};
    CHECK(stops(&f, worse));
}

static void a_trial_that_is_almost_done_may_end(void)
{
    struct field f;
    const double bad[STEPS] = {0};
    field_init(&f, EARLY_MEDIAN);
    learn_seven(&f);
    const size_t late = add(&f, STOP_END_OPEN, 39, bad);
    const size_t early = add(&f, STOP_END_OPEN, 37, bad);
    CHECK(!stops(&f, late) && stops(&f, early));
    f.options.max_steps = 80;
    CHECK(stops(&f, late));
}

static void either_of_two_goals_keeps_a_trial(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    learn_seven(&f);
    for (size_t i = 0; i < 7; i++)
        set_other(&f, i, 1 + 0.1 * (double)i);
    const size_t other = learn(&f, STOP_END_OPEN, 20, 0.3, 5);
    const size_t dominated = learn(&f, STOP_END_OPEN, 20, 0.3, 5);
    set_other(&f, other, 3);
    set_other(&f, dominated, 0.5);
    CHECK(!stops(&f, other));
    const struct stop_verdict verdict = judge(&f, dominated);
    CHECK(verdict.action == STOP_NOW && verdict.prediction.known);
    CHECK(verdict.prediction.probability < 0.05);
    CHECK(is_near(verdict.prediction.final[1], 0.5, 0.05));
    f.setting.goals[1].safety = true; /* no reason to keep anybody */
    CHECK(stops(&f, other));
}

static void between_two_goals_nobody_stops_unforetold(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    f.options.min_trials = 3;
    for (int i = 0; i < 3; i++)
        set_other(&f, learn(&f, STOP_END_WHOLE, 40, 0.8, 5), 1);
    const size_t worse = learn(&f, STOP_END_OPEN, 20, 0.3, 5);
    set_other(&f, worse, 0.5);
    CHECK(!stops(&f, worse));
    f.setting.n_goals = 1;
    const struct stop_verdict verdict = judge(&f, worse);
    CHECK(verdict.action == STOP_NOW && !verdict.prediction.known);
}

/* --- what is foretold --- */

static void curves_foretell_their_ends(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    learn_seven(&f);
    const size_t current = learn(&f, STOP_END_OPEN, 32, 0.8, 7);
    struct stop_prediction prediction = {0};
    f.curves[current].n = 12;
    final_model_predict(&f.study, current, &prediction);
    CHECK(prediction.known && prediction.at == 40);
    const double truth = 0.8 * (1 - exp(-40.0 / 7));
    const double deviation = sqrt(prediction.variance[0]);
    CHECK(deviation > 0.001 && deviation < 0.15);
    CHECK(is_near(prediction.final[0], truth, 2 * deviation));
    /* Nearer and surer when there is more of it. */
    f.curves[current].n = 32;
    struct stop_prediction late = {0};
    final_model_predict(&f.study, current, &late);
    CHECK(late.known && late.variance[0] < prediction.variance[0] / 4);
    CHECK(is_near(late.final[0], truth, 0.02));
}

static void an_outlier_rules_nothing(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    learn_seven(&f);
    double diverged[40];
    for (size_t s = 0; s < 40; s++)
        diverged[s] = s < 3 ? 0.3 : -1e300;
    add(&f, STOP_END_WHOLE, 40, diverged);
    const size_t current = learn(&f, STOP_END_OPEN, 20, 0.8, 7);
    struct stop_prediction prediction = {0};
    final_model_predict(&f.study, current, &prediction);
    CHECK(prediction.known && is_near(prediction.final[0], 0.8, 0.1));
    CHECK(prediction.variance[0] < 0.1);
}

static void without_curves_nothing_is_foretold(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    for (int i = 0; i < FINAL_CURVES - 1; i++)
        learn(&f, STOP_END_WHOLE, 40, 0.7 + 0.05 * i, 5);
    const size_t current = learn(&f, STOP_END_OPEN, 12, 0.8, 7);
    struct stop_prediction prediction = {.known = false, .at = -1};
    final_model_predict(&f.study, current, &prediction);
    CHECK(!prediction.known && prediction.at == -1);
}

static void at_the_very_beginning_nothing_is_foretold(void)
{
    struct field f;
    field_init(&f, EARLY_MEDIAN);
    learn_seven(&f);
    const size_t current = learn(&f, STOP_END_OPEN, 1, 0.8, 7);
    struct stop_prediction prediction = {.known = false};
    f.points[current][0].at = 0;
    final_model_predict(&f.study, current, &prediction);
    CHECK(!prediction.known);
    f.points[current][0].at = -3; /* a clock that was set back */
    final_model_predict(&f.study, current, &prediction);
    CHECK(!prediction.known);
    f.points[current][0].at = 1;
    final_model_predict(&f.study, current, &prediction);
    CHECK(prediction.known && isfinite(prediction.final[0]));
    CHECK(isfinite(prediction.variance[0]) && prediction.variance[0] > 0);
}

/* --- decay --- */

static void what_has_no_chance_stops(void)
{
    struct field f;
    field_init(&f, EARLY_DECAY);
    learn_seven(&f);
    const size_t poor = learn(&f, STOP_END_OPEN, 15, 0.5, 5);
    const size_t good = learn(&f, STOP_END_OPEN, 15, 0.97, 7);
    const struct stop_verdict verdict = judge(&f, poor);
    CHECK(verdict.action == STOP_NOW && verdict.prediction.known);
    CHECK(verdict.prediction.probability < 0.05);
    CHECK(verdict.prediction.final[0] > 0.45);
    CHECK(verdict.prediction.final[0] < verdict.threshold);
    CHECK(verdict.compared == 7 && verdict.at == 15);
    CHECK(is_near(verdict.threshold, 0.94 * (1 - exp(-4)), 0.02));
    CHECK(!stops(&f, good));
}

static void a_slow_learner_with_hope_goes_on(void)
{
    struct field f;
    field_init(&f, EARLY_DECAY);
    learn_seven(&f);
    /* A line: what it gained in the last half is missing to the best. */
    double values[20];
    for (size_t s = 0; s < 20; s++)
        values[s] = 0.034 * ((double)s + 1);
    const size_t line = add(&f, STOP_END_OPEN, 20, values);
    CHECK(!stops(&f, line));
}

static void decay_waits_for_a_fifth_and_four_values(void)
{
    struct field f;
    field_init(&f, EARLY_DECAY);
    learn_seven(&f);
    const size_t poor = learn(&f, STOP_END_OPEN, 15, 0.3, 5);
    CHECK(stops(&f, poor));
    f.curves[poor].n = 7;
    CHECK(!stops(&f, poor));
    f.options.min_steps = 6;
    CHECK(stops(&f, poor));
    f.options = (struct early_stop){.rule = EARLY_DECAY};
    f.curves[poor].n = 15;
    for (size_t s = 3; s < 15; s++)
        f.values[poor][s - 1][0] = s % 5 == 0 ? 0.3 : NAN;
    CHECK(learning_curve_count(&(struct learning_curve){&f.curves[poor], 0},
                               15) == 5);
    f.options.min_measurements = 6;
    CHECK(!stops(&f, poor));
    f.options.min_measurements = 5;
    CHECK(stops(&f, poor));
}

static void verdicts_repeat_bit_for_bit(void)
{
    struct field f;
    field_init(&f, EARLY_DECAY);
    learn_seven(&f);
    const size_t poor = learn(&f, STOP_END_OPEN, 15, 0.5, 5);
    const struct stop_verdict first = judge(&f, poor);
    const struct stop_verdict second = judge(&f, poor);
    CHECK(memcmp(first.prediction.final, second.prediction.final,
                 sizeof *first.prediction.final) == 0);
    CHECK(memcmp(first.prediction.variance, second.prediction.variance,
                 sizeof *first.prediction.variance) == 0);
    CHECK(first.prediction.probability == second.prediction.probability);
}

static void decay_stops_only_what_is_dominated(void)
{
    struct field f;
    field_init(&f, EARLY_DECAY);
    learn_seven(&f);
    for (size_t i = 0; i < 7; i++)
        set_other(&f, i, 1 + 0.1 * (double)i);
    const size_t other = learn(&f, STOP_END_OPEN, 15, 0.4, 5);
    const size_t dominated = learn(&f, STOP_END_OPEN, 15, 0.4, 5);
    set_other(&f, other, 5);
    set_other(&f, dominated, 0.2);
    CHECK(!stops(&f, other) && stops(&f, dominated));
}

/* --- convex --- */

static void a_curve_that_cannot_reach_the_best_stops(void)
{
    struct field f;
    field_init(&f, EARLY_CONVEX);
    learn_seven(&f);
    const size_t flattened = learn(&f, STOP_END_OPEN, 20, 0.5, 4);
    const struct stop_verdict verdict = judge(&f, flattened);
    CHECK(verdict.action == STOP_NOW && verdict.compared == 7);
    /* What it reaches is an overestimate. */
    CHECK(verdict.value >= 0.5 * (1 - exp(-10)) && verdict.value < 0.6);
    CHECK(verdict.threshold > 0.9 && verdict.prediction.known);
}

static void a_slope_that_reaches_the_best_goes_on(void)
{
    struct field f;
    field_init(&f, EARLY_CONVEX);
    learn_seven(&f);
    const size_t rising = learn(&f, STOP_END_OPEN, 20, 1.4, 30);
    CHECK(!stops(&f, rising));
    f.options.max_steps = 22; /* no time is left */
    CHECK(judge(&f, rising).value < judge(&f, rising).threshold);
}

static void what_has_not_begun_to_learn_goes_on(void)
{
    struct field f;
    const double flat[20] = {0};
    field_init(&f, EARLY_CONVEX);
    learn_seven(&f);
    CHECK(!stops(&f, add(&f, STOP_END_OPEN, 20, flat)));
}

static void convex_waits_for_a_tenth_and_five_values(void)
{
    struct field f;
    field_init(&f, EARLY_CONVEX);
    learn_seven(&f);
    const size_t poor = learn(&f, STOP_END_OPEN, 20, 0.3, 2);
    f.curves[poor].n = 4;
    CHECK(!stops(&f, poor));
    f.curves[poor].n = 12;
    CHECK(stops(&f, poor));
    f.options.min_steps = 13;
    CHECK(!stops(&f, poor));
    f.options.min_steps = 12;
    CHECK(stops(&f, poor));
    f.options.min_measurements = 13;
    CHECK(!stops(&f, poor));
    f.options.min_measurements = 0;
    f.options.min_trials = 8;
    CHECK(!stops(&f, poor));
}

/* --- all --- */

static void every_rule_has_its_name(void)
{
    static const char *const names[] = {
        [EARLY_MEDIAN] = "median",       [EARLY_DECAY] = "decay",
        [EARLY_CONVEX] = "convex",       [EARLY_ASHA] = "asha",
        [EARLY_HYPERBAND] = "hyperband",
    };
    CHECK(stop_rule_find(EARLY_NONE) == NULL);
    for (int i = EARLY_MEDIAN; i <= EARLY_HYPERBAND; i++)
        CHECK_TEXT(stop_rule_find((enum job_early_stop)i)->name, names[i]);
}

static void without_a_rule_everything_goes_on(void)
{
    struct field f;
    field_init(&f, EARLY_NONE);
    learn_seven(&f);
    CHECK(!stops(&f, learn(&f, STOP_END_OPEN, 20, 0.1, 5)));
}

int main(void)
{
    algorithm_init();
    RUN(a_curve_answers_without_what_was_not_told);
    RUN(an_even_count_has_the_mean_of_the_middle);
    RUN(only_a_strictly_worse_best_stops);
    RUN(stopped_and_running_trials_are_no_median);
    RUN(nothing_stops_before_enough_is_known);
    RUN(no_rule_stops_before_a_tenth_of_the_way);
    RUN(no_rule_stops_before_four_reports);
    RUN(a_trial_that_is_almost_done_may_end);
    RUN(either_of_two_goals_keeps_a_trial);
    RUN(between_two_goals_nobody_stops_unforetold);
    RUN(curves_foretell_their_ends);
    RUN(an_outlier_rules_nothing);
    RUN(without_curves_nothing_is_foretold);
    RUN(at_the_very_beginning_nothing_is_foretold);
    RUN(what_has_no_chance_stops);
    RUN(a_slow_learner_with_hope_goes_on);
    RUN(decay_waits_for_a_fifth_and_four_values);
    RUN(verdicts_repeat_bit_for_bit);
    RUN(decay_stops_only_what_is_dominated);
    RUN(a_curve_that_cannot_reach_the_best_stops);
    RUN(a_slope_that_reaches_the_best_goes_on);
    RUN(what_has_not_begun_to_learn_goes_on);
    RUN(convex_waits_for_a_tenth_and_five_values);
    RUN(every_rule_has_its_name);
    RUN(without_a_rule_everything_goes_on);
    return check_done();
}
