/* Successive halving and Hyperband: rungs, which trials continue, which stop or
 * pause, which are promoted, and how trials are spread over brackets. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/stop/asha.h"
#include "algorithms/stop/early_stop.h"
#include "tests/check.h"

enum { MOST = 64, STEPS = 32 };

/* Curves that are straight lines: the value of step s is `height` + s. */
struct field {
    struct setting setting;
    struct early_stop options;
    struct stop_curve curves[MOST];
    struct stop_point points[MOST][STEPS];
    double values[MOST][STEPS][2];
    struct stop_study study;
};

static void field_init(struct field *field, struct early_stop options)
{
    field->setting = (struct setting){.n_goals = 1};
    field->options = options;
    field->study = (struct stop_study){.setting = &field->setting,
                                       .options = &field->options,
                                       .curves = field->curves};
}

/* A trial at step `steps`, of steps from 1. */
static size_t field_add(struct field *field, size_t steps, double height,
                        double other)
{
    const size_t i = field->study.n++;
    for (size_t s = 0; s < steps; s++) {
        field->values[i][s][0] = height + (double)(s + 1);
        field->values[i][s][1] = other;
        field->points[i][s] =
            (struct stop_point){(double)(s + 1), field->values[i][s]};
    }
    field->curves[i] = (struct stop_curve){
        .ordinal = i, .n = steps, .points = field->points[i]};
    return i;
}

static struct stop_verdict judge(const struct field *field, size_t current)
{
    struct stop_verdict verdict = {.value = NAN, .threshold = NAN, .rung = -1};
    asha_rule.judge(&field->study, current, &verdict);
    return verdict;
}

static void pause(struct field *field, size_t i, int64_t rung)
{
    field->curves[i].paused = true;
    field->curves[i].passed = rung;
}

/* The first rung is at step 1. */
static const struct early_stop from_step_1 = {.rule = EARLY_ASHA,
                                              .min_steps = 1};
static const struct early_stop pausing = {
    .rule = EARLY_ASHA, .min_steps = 1, .pauses = true};

/* --- ladders --- */

static void rungs_are_a_factor_apart_and_below_the_end(void)
{
    const struct asha_ladder ladder = asha_ladder(
        &(struct early_stop){.min_steps = 2, .max_steps = 18, .factor = 3});
    CHECK(asha_place(&ladder, 0) == 2 && asha_place(&ladder, 2) == 18);
    CHECK(asha_reached(&ladder, 1.9) == -1);
    CHECK(asha_reached(&ladder, 2) == 0 && asha_reached(&ladder, 5.9) == 0);
    CHECK(asha_reached(&ladder, 6) == 1);
    CHECK(asha_reached(&ladder, 18) == 1 && asha_reached(&ladder, 1e9) == 1);
}

static void by_default_the_first_rung_is_at_a_tenth_and_four_steps(void)
{
    const struct asha_ladder usual =
        asha_ladder(&(struct early_stop){.max_steps = 100});
    CHECK(usual.first == 10 && asha_reached(&usual, 100) == 2);
    const struct asha_ladder halves =
        asha_ladder(&(struct early_stop){.max_steps = 100, .factor = 2});
    CHECK(halves.first == 13);
    const struct asha_ladder few =
        asha_ladder(&(struct early_stop){.max_steps = 9});
    CHECK(few.first == 4 && asha_reached(&few, 9) == 0);
    const struct asha_ladder seconds =
        asha_ladder(&(struct early_stop){.max_steps = 9, .by_time = true});
    CHECK(seconds.first == 1);
    const struct asha_ladder endless = asha_ladder(&(struct early_stop){0});
    CHECK(endless.first == 4 && endless.factor == 3);
    CHECK(asha_reached(&endless, 4 * 243) == 5);
}

/* --- stopping --- */

static void the_worst_of_a_rung_stop(void)
{
    static struct field field;
    field_init(&field, (struct early_stop){.rule = EARLY_ASHA, .min_steps = 2});
    for (size_t i = 0; i < 6; i++)
        field_add(&field, 2, (double)i, 0);
    for (size_t i = 0; i < 6; i++) {
        const struct stop_verdict verdict = judge(&field, i);
        CHECK(verdict.action == (i < 4 ? STOP_NOW : STOP_GO_ON));
        CHECK(verdict.rung == 0 && verdict.compared == 6);
        CHECK(verdict.value == (double)i + 2);
        CHECK(i >= 4 ? isnan(verdict.threshold) : verdict.threshold == 6);
    }
}

static void nobody_stops_before_enough_came(void)
{
    static struct field field;
    field_init(&field, (struct early_stop){
                           .rule = EARLY_ASHA, .min_steps = 1, .factor = 4});
    for (size_t i = 0; i < 3; i++) {
        field_add(&field, 1, -(double)i, 0);
        CHECK(judge(&field, i).action == STOP_GO_ON);
    }
    field_add(&field, 1, -3, 0);
    CHECK(judge(&field, 3).action == STOP_NOW);
}

/* Of 4 trials and a factor of 3, one and a third continue: two. */
static void a_part_of_a_place_is_a_place(void)
{
    static struct field field;
    field_init(&field, from_step_1);
    for (size_t i = 0; i < 4; i++)
        field_add(&field, 1, -(double)i, 0);
    CHECK(judge(&field, 1).action == STOP_GO_ON);
    CHECK(judge(&field, 2).action == STOP_NOW);
}

static void equal_trials_share_the_better_place(void)
{
    static struct field field;
    field_init(&field, from_step_1);
    for (size_t i = 0; i < 9; i++)
        field_add(&field, 1, i < 2 ? 1 : 0, 0);
    for (size_t i = 0; i < 9; i++)
        CHECK(judge(&field, i).action == STOP_GO_ON);
    field.values[8][0][0] = 0.5; /* the third of them alone */
    for (size_t i = 2; i < 8; i++)
        CHECK(judge(&field, i).action ==
              (field.values[i][0][0] < 0.5 ? STOP_NOW : STOP_GO_ON));
}

/* A trial is compared at its next rung with what others were there, however far
 * they are by now, and at every rung once. */
static void trials_are_compared_where_they_are(void)
{
    static struct field field;
    field_init(&field, (struct early_stop){.rule = EARLY_ASHA, .min_steps = 2});
    const size_t far = field_add(&field, 20, 0, 0);
    const size_t near = field_add(&field, 2, 1, 0);
    const size_t late = field_add(&field, 7, -1, 0);
    field_add(&field, 1, 9, 0);
    CHECK(judge(&field, near).compared == 3);
    CHECK(judge(&field, near).action == STOP_GO_ON);
    CHECK(judge(&field, late).rung == 0 && judge(&field, late).at == 2);
    field.curves[late].passed = 1;
    CHECK(judge(&field, late).rung == 1 && judge(&field, late).at == 6);
    CHECK(judge(&field, late).compared == 2);
    CHECK(judge(&field, late).goals[0] == 5);
    field.curves[far].passed = 2;
    CHECK(judge(&field, far).rung == 2 && judge(&field, far).compared == 1);
    field.curves[far].passed = 3;
    CHECK(judge(&field, far).rung == -1);
    CHECK(judge(&field, 3).rung == -1); /* before the first rung */
}

static void places_between_reports_are_compared_too(void)
{
    static struct field field;
    field_init(&field, (struct early_stop){.rule = EARLY_ASHA, .min_steps = 2});
    for (size_t i = 0; i < 3; i++)
        field_add(&field, 3, (double)i, 0);
    field.points[0][1].at = 2.5; /* 2 at 2.5, 1 at 1: 1.67 at 2 */
    const struct stop_verdict verdict = judge(&field, 0);
    CHECK(verdict.rung == 0 && verdict.action == STOP_NOW);
    CHECK(fabs(verdict.value - (1 + 1 / 1.5)) < 1e-12);
}

static void what_was_not_told_is_not_judged(void)
{
    static struct field field;
    field_init(&field, from_step_1);
    for (size_t i = 0; i < 4; i++)
        field_add(&field, 1, -(double)i, 0);
    field.values[3][0][0] = NAN;
    CHECK(judge(&field, 3).rung == -1);
    CHECK(judge(&field, 2).compared == 3);
}

static void of_two_objectives_the_dominated_stop(void)
{
    static struct field field;
    field_init(&field, from_step_1);
    field.setting.n_goals = 3;
    field.setting.goals[2].safety = true;
    static double values[4][3] = {
        {2, 1, NAN}, {1, 2, NAN}, {1, 1, NAN}, {0, 0, 9}};
    for (size_t i = 0; i < 4; i++) {
        field_add(&field, 1, 0, 0);
        field.points[i][0].values = values[i];
    }
    CHECK(judge(&field, 0).action == STOP_GO_ON);
    CHECK(judge(&field, 1).action == STOP_GO_ON);
    CHECK(judge(&field, 2).action == STOP_NOW); /* two are ahead */
    CHECK(judge(&field, 3).action == STOP_NOW);
    CHECK(isnan(judge(&field, 3).threshold));
}

/* Six trials at rung 0; the first one has not reported at every step. */
static void a_rung_with_less_than_four_reports_is_passed(void)
{
    static struct field field;
    field_init(&field, (struct early_stop){.rule = EARLY_ASHA});
    for (size_t i = 0; i < 6; i++)
        field_add(&field, 4, (double)i, 0);
    CHECK(judge(&field, 0).action == STOP_NOW);
    field.values[0][1][0] = NAN;
    const struct stop_verdict verdict = judge(&field, 0);
    CHECK(verdict.action == STOP_GO_ON && verdict.rung == 0);
    CHECK(verdict.compared == 6 && judge(&field, 1).action == STOP_NOW);
    field.options.min_steps = 4;
    CHECK(judge(&field, 0).action == STOP_NOW);
}

static void a_rung_below_a_tenth_of_the_longest_curve_is_passed(void)
{
    static struct field field;
    field_init(&field, (struct early_stop){.rule = EARLY_ASHA});
    for (size_t i = 0; i < 6; i++)
        field_add(&field, 12, (double)i, 0);
    CHECK(judge(&field, 0).action == STOP_NOW);
    field.points[5][11].at = 41;
    CHECK(judge(&field, 0).action == STOP_GO_ON && judge(&field, 0).rung == 0);
    field.curves[0].passed = 1; /* at step 12 */
    CHECK(judge(&field, 0).action == STOP_NOW);
    field.curves[0].passed = 0;
    field.points[5][11].at = 40;
    CHECK(judge(&field, 0).action == STOP_NOW);
}

/* --- what would have come of it --- */

/* Three others gained 6, 9 and 12 from step 3 on, and were 4 ahead. */
static void a_stopped_trial_gains_what_others_gained(void)
{
    static struct field field;
    field_init(&field, (struct early_stop){
                           .rule = EARLY_ASHA, .min_steps = 3, .max_steps = 9});
    for (size_t i = 0; i < 4; i++) {
        field_add(&field, i < 3 ? 9 : 3, i < 3 ? 4 : 0, 0);
        field.curves[i].end = i < 3 ? STOP_END_WHOLE : STOP_END_OPEN;
        field.curves[i].finals = i < 3 ? field.values[i][8] : NULL;
        field.values[i][8][0] = 7 + 6 + 3 * (double)i;
    }
    field_add(&field, 3, 1, 0);
    const struct stop_verdict verdict = judge(&field, 3);
    const struct stop_prediction *prediction = &verdict.prediction;
    CHECK(verdict.action == STOP_NOW && prediction->known);
    CHECK(prediction->at == 9 && prediction->final[0] == 3 + 9);
    /* gains vary by 9, and half of the distance of 4 is doubted */
    CHECK(fabs(prediction->variance[0] - (9 + 4)) < 1e-12);
    CHECK(prediction->probability > 0 && prediction->probability < 0.1);
}

/* How much two trials differ by says nothing; three say a little. */
static void of_two_trials_nothing_is_foretold(void)
{
    static struct field field;
    field_init(&field, pausing);
    field_add(&field, 1, 0, 0);
    field_add(&field, 1, 1, 0);
    CHECK(judge(&field, 0).action == STOP_PAUSE);
    CHECK(!judge(&field, 0).prediction.known);
    field_add(&field, 1, 2, 0);
    const struct stop_verdict verdict = judge(&field, 0);
    CHECK(verdict.prediction.known && verdict.prediction.final[0] == 1);
    CHECK(verdict.prediction.variance[0] == 0.5); /* of 1, the half to go */
}

/* --- pausing --- */

static void the_first_of_a_rung_pause_until_they_are_promoted(void)
{
    static struct field field;
    size_t chosen = 99;
    field_init(&field, pausing);
    for (size_t i = 0; i < 2; i++) {
        field_add(&field, 1, (double)i, 0);
        CHECK(judge(&field, i).action == STOP_PAUSE);
        CHECK(isnan(judge(&field, i).threshold));
        pause(&field, i, 0);
        CHECK(!asha_rule.promote(&field.study, false, &chosen));
    }
    field_add(&field, 1, -1, 0);
    CHECK(judge(&field, 2).action == STOP_PAUSE);
    CHECK(judge(&field, 2).threshold == 2);
    CHECK(asha_rule.promote(&field.study, false, &chosen) && chosen == 1);
    field.curves[1].paused = false;
    CHECK(!asha_rule.promote(&field.study, false, &chosen));
}

static void the_best_goes_on_without_a_pause(void)
{
    static struct field field;
    field_init(&field, pausing);
    for (size_t i = 0; i < 3; i++)
        field_add(&field, 1, (double)i, 0);
    CHECK(judge(&field, 2).action == STOP_GO_ON && judge(&field, 2).rung == 0);
    CHECK(judge(&field, 1).action == STOP_PAUSE);
}

static void higher_rungs_are_promoted_first_then_better_trials(void)
{
    static struct field field;
    size_t chosen = 99;
    field_init(&field, pausing);
    for (size_t i = 0; i < 9; i++)
        field_add(&field, i < 3 ? 3 : 1, 9 - (double)i, 0);
    for (size_t i = 0; i < 9; i++)
        pause(&field, i, i < 3 ? 1 : 0);
    field_add(&field, 1, 5.5, 0); /* behind 0 to 3, of ten: no room */
    field_add(&field, 1, 20, 0);
    field_add(&field, 1, 19, 0);
    pause(&field, 9, 0);
    pause(&field, 10, 0);
    pause(&field, 11, 0);
    CHECK(asha_rule.promote(&field.study, false, &chosen) && chosen == 0);
    field.curves[0].paused = false;
    CHECK(asha_rule.promote(&field.study, false, &chosen) && chosen == 10);
    field.curves[10].paused = false;
    CHECK(asha_rule.promote(&field.study, false, &chosen) && chosen == 11);
    field.curves[11].paused = false;
    CHECK(!asha_rule.promote(&field.study, false, &chosen));
}

/* Two trials are too few for a place of a third of them, and no other will
 * come: the better one continues. */
static void at_the_end_the_best_goes_on_however_few_there_are(void)
{
    static struct field field;
    size_t chosen = 99;
    field_init(&field, pausing);
    for (size_t i = 0; i < 2; i++) {
        field_add(&field, 1, (double)i, 0);
        pause(&field, i, 0);
    }
    CHECK(!asha_rule.promote(&field.study, false, &chosen) && chosen == 99);
    CHECK(asha_rule.promote(&field.study, true, &chosen) && chosen == 1);
    field.curves[1].paused = false;
    CHECK(!asha_rule.promote(&field.study, true, &chosen));
}

/* --- Hyperband --- */

static const struct early_stop banded = {
    .rule = EARLY_HYPERBAND, .min_steps = 1, .max_steps = 27};

static void brackets_have_their_shares_of_trials(void)
{
    size_t counts[4] = {0};
    CHECK(asha_brackets(&banded) == 4);
    for (uint64_t i = 0; i < 1000; i++)
        counts[asha_bracket(&banded, i)]++;
    /* 27/4, 9/3, 3/2 and 1 of 12.25 */
    static const double shares[4] = {0.551, 0.245, 0.1224, 0.0816};
    for (size_t b = 0; b < 4; b++)
        CHECK(fabs((double)counts[b] / 1000 - shares[b]) < 0.005);
    bool seen[4] = {false};
    for (uint64_t i = 40; i < 60; i++) /* any run has all of them */
        seen[asha_bracket(&banded, i)] = true;
    CHECK(seen[0] && seen[1] && seen[2] && seen[3]);
}

static void short_ladders_have_fewer_brackets(void)
{
    CHECK(asha_brackets(&(struct early_stop){.min_steps = 5, .max_steps = 6}) ==
          2);
    CHECK(asha_brackets(
              &(struct early_stop){.min_steps = 1, .max_steps = 1 << 30}) == 5);
    CHECK(asha_brackets(&(struct early_stop){.max_steps = 1 << 30}) == 4);
    CHECK(asha_brackets(&(struct early_stop){.max_steps = 40}) == 4);
}

/* The first rung of a bracket is where its number says, and trials of other
 * brackets do not count there. */
static void brackets_are_judged_apart(void)
{
    static struct field field;
    field_init(&field, banded);
    for (size_t i = 0; i < MOST; i++)
        field_add(&field, 9, -(double)i, 0);
    size_t counts[4] = {0};
    for (size_t i = 0; i < MOST; i++)
        counts[asha_bracket(&banded, i)]++;
    for (size_t i = 0; i < MOST; i++) {
        struct stop_verdict verdict = {.rung = -1};
        const size_t b = asha_bracket(&banded, i);
        hyperband_rule.judge(&field.study, i, &verdict);
        CHECK(verdict.rung == (b < 3 ? 0 : -1));
        CHECK(b == 3 || verdict.compared == counts[b]);
        CHECK(b == 3 || verdict.at == pow(3, (double)b));
        CHECK(b < 3 || verdict.action == STOP_GO_ON);
    }
}

static void every_bracket_promotes_its_own(void)
{
    static struct field field;
    struct early_stop options = banded;
    size_t promoted[4] = {0}, counts[4] = {0}, chosen;
    options.pauses = true;
    field_init(&field, options);
    for (size_t i = 0; i < MOST; i++) {
        const size_t b = asha_bracket(&options, i);
        field_add(&field, 9, (double)b * 100 - (double)i, 0);
        counts[b]++;
        if (b < 3)
            pause(&field, i, 2 - (int64_t)b);
    }
    while (hyperband_rule.promote(&field.study, false, &chosen)) {
        field.curves[chosen].paused = false;
        promoted[asha_bracket(&options, chosen)]++;
    }
    for (size_t b = 0; b < 3; b++)
        CHECK(promoted[b] == counts[b] / 3 && promoted[b] > 0);
}

int main(void)
{
    RUN(rungs_are_a_factor_apart_and_below_the_end);
    RUN(by_default_the_first_rung_is_at_a_tenth_and_four_steps);
    RUN(the_worst_of_a_rung_stop);
    RUN(nobody_stops_before_enough_came);
    RUN(a_part_of_a_place_is_a_place);
    RUN(equal_trials_share_the_better_place);
    RUN(trials_are_compared_where_they_are);
    RUN(places_between_reports_are_compared_too);
    RUN(what_was_not_told_is_not_judged);
    RUN(of_two_objectives_the_dominated_stop);
    RUN(a_rung_with_less_than_four_reports_is_passed);
    RUN(a_rung_below_a_tenth_of_the_longest_curve_is_passed);
    RUN(a_stopped_trial_gains_what_others_gained);
    RUN(of_two_trials_nothing_is_foretold);
    RUN(the_first_of_a_rung_pause_until_they_are_promoted);
    RUN(the_best_goes_on_without_a_pause);
    RUN(higher_rungs_are_promoted_first_then_better_trials);
    RUN(at_the_end_the_best_goes_on_however_few_there_are);
    RUN(brackets_have_their_shares_of_trials);
    RUN(short_ladders_have_fewer_brackets);
    RUN(brackets_are_judged_apart);
    RUN(every_bracket_promotes_its_own);
    return check_done();
}
