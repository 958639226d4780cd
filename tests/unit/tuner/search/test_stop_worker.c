/* Early stopping in the server: curves as they are read, trials that are
 * stopped, what is kept of it and what the search makes of it. */
#include <math.h>

#include "tests/lib/core_fixture.h"
#include "tuner/search/stop_curves.h"
#include "tuner/search/stop_worker.h"
#include "tuner/search/trial_result.h"
#include "tuner/study/early_stop.h"

enum { WHOLE = 8 }; /* steps of a trial that ends by itself */

#define MEDIAN "{rule: median, minMeasurements: 2}"

static void submit(struct fixture *f, const char *goal, const char *rule)
{
    struct text spec = {0};
    text_printf(&spec,
                "spec: 1\nname: s\ngoal: %s\n"
                "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                "algorithm: random\ntrials: 20\nparallel: 1\nretries: 1\n"
                "command: [./train]\nearlyStopping: %s\n",
                goal, rule);
    CHECK(fixture_submit(f, spec.data)->status == HT_OK);
    text_free(&spec);
    fixture_hello(f, 1);
}

static struct request *report(struct fixture *f, const struct leased *leased,
                              int64_t step, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    struct request *req =
        fixture_report(f, leased->token, fixture_record(f, step, step, text));
    CHECK(req->status == HT_OK);
    return req;
}

static void end(struct fixture *f, const struct leased *leased,
                const char *outcome)
{
    const char *text =
        arena_printf(f->arena, "\"outcome\":\"%s\",\"exit\":0", outcome);
    fixture_end(f, leased, text);
}

/* Five trials that come to 1 * scale, 2 * scale... in steps of an eighth. */
static void succeed_five(struct fixture *f, double scale)
{
    for (int i = 1; i <= 5; i++) {
        const struct leased leased = fixture_begin(f);
        for (int step = 1; step <= WHOLE; step++)
            report(f, &leased, step, scale * i * step / WHOLE);
        end(f, &leased, "succeeded");
    }
}

/* One that is far behind; it is told to stop. */
static struct leased fall_behind(struct fixture *f, double scale)
{
    const struct leased leased = fixture_begin(f);
    report(f, &leased, 1, scale * 0.05);
    report(f, &leased, 2, scale * 0.1);
    CHECK(fixture_await_trials(f, 1, TRIAL_STOPPING, 1));
    return leased;
}

static size_t count_moves(struct fixture *f, int64_t trial, const char *to)
{
    struct db *db = fixture_db(f);
    struct event_list list = {0};
    size_t n = 0;
    CHECK(db_event_list(db, f->arena, 1, 0, 1000, &list, NULL) == HT_OK);
    for (size_t i = 0; i < list.n; i++)
        n += list.rows[i].trial == trial &&
             strcmp(list.rows[i].kind, "trial.moved") == 0 &&
             strcmp(list.rows[i].to, to) == 0;
    db_close(db);
    return n;
}

static double number(const struct node *record, const char *key)
{
    return node_get_double(record, key, NAN);
}

static const struct node *read_record(struct fixture *f, const char *text)
{
    struct diag diag;
    diag_init(&diag, f->arena, "record", text, strlen(text));
    return node_read_json(f->arena, text, strlen(text), &diag);
}

/* --- stopping --- */

static void a_trial_that_falls_behind_is_stopped(struct fixture *f)
{
    submit(f, "maximize accuracy", MEDIAN);
    succeed_five(f, 1);
    const struct leased leased = fall_behind(f, 1);
    struct request *last = report(f, &leased, 3, 0.12);
    CHECK(node_get_bool(fixture_reply(last), "stop", false));
    end(f, &leased, "stopped");
    const struct trial_row trial = fixture_trial(f, 1, 6);
    CHECK(trial.state == TRIAL_STOPPED);
    CHECK(trial.has_objective && trial.objective == 0.12);
    CHECK(strstr(trial.reason, "stopped early by the median rule at step 2: "
                               "best 0.1 < median 0.5625 of 5 trials; "
                               "predicted final ") == trial.reason);
    const struct node *record = read_record(f, trial.stop);
    CHECK_TEXT(node_get_string(record, "rule", ""), "median");
    CHECK_TEXT(node_get_string(record, "metric", ""), "accuracy");
    CHECK(number(record, "at") == 2 && number(record, "value") == 0.1);
    CHECK(number(record, "threshold") == 0.5625);
    CHECK(number(record, "trials") == 5 && number(record, "end") == WHOLE);
    CHECK(number(record, "probability") >= 0 &&
          number(record, "probability") <= 1);
    const struct node *curve = node_find(record, "curve");
    CHECK(curve != NULL && curve->count == 2);
    const struct node *predicted = node_find(record, "predicted");
    CHECK(predicted != NULL && predicted->count == 1);
    CHECK(number(predicted->first, "deviation") > 0);
}

static void what_keeps_up_goes_on(struct fixture *f)
{
    submit(f, "maximize accuracy", MEDIAN);
    succeed_five(f, 1);
    const struct leased leased = fixture_begin(f);
    for (int step = 1; step <= WHOLE; step++)
        report(f, &leased, step, 4.0 * step / WHOLE);
    end(f, &leased, "succeeded");
    fall_behind(f, 1); /* judged after it */
    const struct trial_row trial = fixture_trial(f, 1, 6);
    CHECK(trial.state == TRIAL_SUCCEEDED);
    CHECK_TEXT(trial.stop, "");
}

static void a_minimised_metric_is_told_as_it_is(struct fixture *f)
{
    submit(f, "minimize accuracy", MEDIAN);
    succeed_five(f, -1);
    const struct leased leased = fall_behind(f, -1);
    end(f, &leased, "stopped");
    const struct trial_row trial = fixture_trial(f, 1, 6);
    CHECK(strstr(trial.reason, "best -0.1 > median -0.5625 of 5") != NULL);
    const struct node *record = read_record(f, trial.stop);
    CHECK(number(record, "value") == -0.1);
    CHECK(number(record, "threshold") == -0.5625);
}

static void a_verdict_is_given_once(struct fixture *f)
{
    submit(f, "maximize accuracy", MEDIAN);
    succeed_five(f, 1);
    const struct leased leased = fall_behind(f, 1);
    const struct trial_row before = fixture_trial(f, 1, 6);
    report(f, &leased, 3, 0.11);
    fixture_stop(f);
    CHECK(fixture_start(f));
    report(f, &leased, 4, 0.12);
    end(f, &leased, "stopped");
    fall_behind(f, 1); /* judged after all that */
    const struct trial_row after = fixture_trial(f, 1, 6);
    CHECK(after.state == TRIAL_STOPPED);
    CHECK_TEXT(after.stop, before.stop);
    CHECK_TEXT(after.reason, before.reason);
    CHECK(count_moves(f, 6, "STOPPING") == 1);
}

static void a_new_server_judges_by_what_the_old_one_stored(struct fixture *f)
{
    submit(f, "maximize accuracy", MEDIAN);
    succeed_five(f, 1);
    const struct leased leased = fixture_begin(f);
    report(f, &leased, 1, 0.05);
    fixture_stop(f);
    CHECK(fixture_start(f));
    report(f, &leased, 2, 0.1);
    CHECK(fixture_await_trials(f, 1, TRIAL_STOPPING, 1));
}

/* --- verdicts that come too late --- */

static int64_t late_attempt;

static enum ht_status say_stop(struct core *core, struct request *req,
                               struct ht_error *err)
{
    const struct stop_finding finding = {
        .study = 1,
        .trial = 1,
        .attempt = late_attempt,
        .verdict = {.action = STOP_NOW, .rung = -1},
        .record = "{\"rule\":\"median\"}",
        .reason = "stopped early"};
    text_puts(&req->reply, "{}");
    return early_stop_receiver.store(core, &finding, err);
}

static enum trial_state say_stop_to(struct fixture *f, int64_t attempt)
{
    late_attempt = attempt;
    CHECK(fixture_call(f, say_stop, NULL, NULL)->status == HT_OK);
    return fixture_trial(f, 1, 1).state;
}

static void only_the_attempt_that_was_judged_is_stopped(struct fixture *f)
{
    submit(f, "maximize accuracy", MEDIAN);
    CHECK(say_stop_to(f, 1) != TRIAL_STOPPING); /* it waits */
    const struct leased leased = fixture_begin(f);
    CHECK(say_stop_to(f, 2) == TRIAL_ACTIVE);
    CHECK_TEXT(fixture_trial(f, 1, 1).stop, "");
    CHECK(say_stop_to(f, 1) == TRIAL_STOPPING);
    CHECK_TEXT(fixture_trial(f, 1, 1).stop, "{\"rule\":\"median\"}");
    end(f, &leased, "stopped");
    CHECK(say_stop_to(f, 1) == TRIAL_CANCELLED); /* it told nothing */
}

static void one_that_has_come_to_its_end_is_not_stopped(struct fixture *f)
{
    submit(f, "maximize accuracy", MEDIAN);
    const struct leased leased = fixture_begin(f);
    report(f, &leased, 1, 0.5);
    CHECK(fixture_tell(f, "ended", &leased.name,
                       "\"outcome\":\"succeeded\",\"exit\":0")
              ->status == HT_OK);
    CHECK(say_stop_to(f, 1) == TRIAL_ACTIVE);
    CHECK(fixture_tell(f, "drained", &leased.name, "")->status == HT_OK);
    CHECK(say_stop_to(f, 1) == TRIAL_SUCCEEDED);
}

static void a_second_try_begins_without_a_verdict(struct fixture *f)
{
    submit(f, "maximize accuracy", MEDIAN);
    succeed_five(f, 1);
    const struct leased leased = fall_behind(f, 1);
    end(f, &leased, "stopped");
    CHECK(fixture_call_trial(f, trial_retry, "1", "6", NULL)->status == HT_OK);
    CHECK_TEXT(fixture_trial(f, 1, 6).stop, "");
}

/* --- curves --- */

static struct stop_curves *read_curves(struct fixture *f)
{
    struct stop_curves *curves = stop_curves_new(1);
    struct db *db = fixture_db(f);
    CHECK(stop_curves_read(curves, db, NULL) == HT_OK);
    db_close(db);
    return curves;
}

static const struct stop_curve *curve_of(const struct stop_curves *curves,
                                         int64_t trial)
{
    static const struct stop_curve none;
    size_t at = 0;
    const bool found = stop_curves_find(curves, trial, &at);
    CHECK(found);
    return found ? &stop_curves_study(curves)->curves[at] : &none;
}

static void tell(struct fixture *f, const struct leased *leased, int64_t seq,
                 int64_t ms, int64_t step, const char *metrics)
{
    const char *record = arena_printf(
        f->arena,
        "{\"w\":\"0000000000000001\",\"n\":%lld,\"t\":%lld,\"s\":%lld,"
        "\"m\":{%s},\"c\":\"\"}",
        (long long)seq, (long long)ms, (long long)step, metrics);
    CHECK(fixture_report(f, leased->token, record)->status == HT_OK);
}

static bool has_point(const struct stop_curve *curve, size_t i, double at,
                      double value)
{
    const bool has = i < curve->n && curve->points[i].at == at &&
                     (curve->points[i].values[0] == value ||
                      (isnan(value) && isnan(curve->points[i].values[0])));
    if (!has && i < curve->n)
        printf("# point %zu: %g at %g\n", i, curve->points[i].values[0],
               curve->points[i].at);
    return has;
}

static void records_of_a_step_make_one_point(struct fixture *f)
{
    submit(f, "minimize accuracy", "{rule: median, minSteps: 1000}");
    const struct leased leased = fixture_begin(f);
    tell(f, &leased, 1, 10, 3, "\"accuracy\":0.3");
    tell(f, &leased, 2, 20, 1, "\"loss\":7");
    tell(f, &leased, 3, 30, 1, "\"accuracy\":0.1");
    tell(f, &leased, 4, 40, 2, "\"accuracy\":\"NaN\"");
    tell(f, &leased, 5, 50, 3, "\"loss\":9");
    struct stop_curves *curves = read_curves(f);
    const struct stop_curve *curve = curve_of(curves, 1);
    CHECK(curve->n == 3 && curve->end == STOP_END_OPEN);
    CHECK(curve->finals == NULL);
    CHECK(has_point(curve, 0, 1, -0.1) && has_point(curve, 1, 2, NAN) &&
          has_point(curve, 2, 3, -0.3));
    CHECK(!stop_curves_find(curves, 2, &(size_t){0}));
    stop_curves_free(curves);
}

static void
an_attempt_that_begins_anew_voids_what_came_before(struct fixture *f)
{
    submit(f, "maximize accuracy", "{rule: median, minSteps: 1000}");
    f->options.retry_ms = 1;
    fixture_stop(f);
    CHECK(fixture_start(f));
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    for (int step = 1; step <= 4; step++)
        tell(f, &leased, step, 10 * step, step, "\"accuracy\":0.9");
    end(f, &leased, "failed");
    leased = fixture_begin(f);
    CHECK(leased.name.trial == 1 && leased.name.attempt == 2);
    tell(f, &leased, 1, 100, 3, "\"accuracy\":0.3");
    struct stop_curves *curves = read_curves(f);
    const struct stop_curve *curve = curve_of(curves, 1);
    CHECK(curve->n == 3 && has_point(curve, 1, 2, 0.9) &&
          has_point(curve, 2, 3, 0.3));
    /* What has changed is read again. */
    tell(f, &leased, 2, 110, 5, "\"accuracy\":0.5");
    struct db *db = fixture_db(f);
    CHECK(stop_curves_read(curves, db, NULL) == HT_OK);
    db_close(db);
    CHECK(curve_of(curves, 1)->n == 4);
    CHECK(has_point(curve_of(curves, 1), 3, 5, 0.5));
    stop_curves_free(curves);
}

static void time_never_goes_back(struct fixture *f)
{
    submit(f, "maximize accuracy", "{rule: median, by: time, minSteps: 1000}");
    const struct leased leased = fixture_begin(f);
    const int64_t start = fixture_trial(f, 1, 1).started_ms;
    tell(f, &leased, 1, start + 1000, 1, "\"accuracy\":0.1");
    tell(f, &leased, 2, start + 3500, 2, "\"accuracy\":0.2");
    tell(f, &leased, 3, start + 2000, 3, "\"accuracy\":0.3");
    tell(f, &leased, 4, start + 4000, 4, "\"accuracy\":0.4");
    struct stop_curves *curves = read_curves(f);
    const struct stop_curve *curve = curve_of(curves, 1);
    CHECK(curve->n == 3 && has_point(curve, 0, 1, 0.1) &&
          has_point(curve, 1, 3.5, 0.3) && has_point(curve, 2, 4, 0.4));
    stop_curves_free(curves);
}

static void whole_and_stopped_curves_are_told_apart(struct fixture *f)
{
    submit(f, "maximize accuracy", MEDIAN);
    succeed_five(f, 1);
    const struct leased leased = fall_behind(f, 1);
    struct stop_curves *curves = read_curves(f);
    CHECK(stop_curves_study(curves)->n == 6);
    CHECK(curve_of(curves, 2)->end == STOP_END_WHOLE);
    CHECK(curve_of(curves, 2)->n == WHOLE);
    CHECK(curve_of(curves, 2)->finals[0] == 2);
    CHECK(curve_of(curves, 6)->end == STOP_END_EARLY);
    end(f, &leased, "stopped");
    stop_curves_free(curves);
    curves = read_curves(f);
    CHECK(curve_of(curves, 6)->end == STOP_END_EARLY);
    CHECK(curve_of(curves, 6)->finals == NULL);
    stop_curves_free(curves);
}

static void long_curves_are_thinned_to_their_end(struct fixture *f)
{
    submit(f, "maximize accuracy", "{rule: median, minSteps: 100000}");
    const struct leased leased = fixture_begin(f);
    const char *records = "";
    for (int step = 1; step <= 1200; step++) {
        records = arena_printf(f->arena, "%s%s%s", records, *records ? "," : "",
                               fixture_record(f, step, step, "0.5"));
        if (step % 100 == 0) {
            CHECK(fixture_report(f, leased.token, records)->status == HT_OK);
            records = "";
        }
    }
    struct stop_curves *curves = read_curves(f);
    const struct stop_curve *curve = curve_of(curves, 1);
    CHECK(curve->n == 400 && curve->points[0].at == 3);
    CHECK(curve->points[399].at == 1200);
    stop_curves_free(curves);
}

/* --- what the search learns --- */

static void the_search_learns_what_was_foretold(void)
{
    const struct metric_goal metric = {.name = "loss"};
    const struct job job = {.n_metrics = 1, .metrics = &metric};
    struct trial_row trial = {
        .state = TRIAL_STOPPED,
        .has_objective = true,
        .objective = 0.9,
        .final_step = 12,
        .final_metrics = "{\"loss\":0.9}",
        .stop = "{\"rule\":\"median\",\"predicted\":[{\"metric\":\"loss\","
                "\"value\":0.4,\"deviation\":0.1}],\"end\":40}"};
    double values[SETTING_METRICS];
    struct observation seen = trial_result_read(&job, &trial, NULL, values);
    CHECK(seen.feasible && values[0] == -0.4);
    CHECK(fabs(seen.variance - 0.01) < 1e-15);
    trial.final_step = 40; /* its client took it to the end nevertheless */
    seen = trial_result_read(&job, &trial, NULL, values);
    CHECK(values[0] == -0.9 && seen.variance == 0);
    trial.stop = "{\"by\":\"time\",\"predicted\":[{\"metric\":\"loss\","
                 "\"value\":0.4,\"deviation\":0.1}],\"end\":40}";
    seen = trial_result_read(&job, &trial, NULL, values);
    CHECK(values[0] == -0.4 && seen.variance > 0); /* 40 is no step */
    trial.final_step = 12;
    trial.state = TRIAL_SUCCEEDED; /* paused once, and promoted */
    seen = trial_result_read(&job, &trial, NULL, values);
    CHECK(values[0] == -0.9 && seen.variance == 0);
    trial.state = TRIAL_STOPPED;
    trial.stop = "{\"predicted\":[{\"metric\":\"loss\",\"value\":0.4,"
                 "\"deviation\":\"inf\"}],\"end\":40}";
    seen = trial_result_read(&job, &trial, NULL, values);
    CHECK(values[0] == -0.9 && seen.variance == 0);
    trial.stop = ""; /* by a person */
    seen = trial_result_read(&job, &trial, NULL, values);
    CHECK(values[0] == -0.9 && seen.variance == 0);
}

int main(void)
{
    RUN_ON_CORE(a_trial_that_falls_behind_is_stopped);
    RUN_ON_CORE(what_keeps_up_goes_on);
    RUN_ON_CORE(a_minimised_metric_is_told_as_it_is);
    RUN_ON_CORE(a_verdict_is_given_once);
    RUN_ON_CORE(a_new_server_judges_by_what_the_old_one_stored);
    RUN_ON_CORE(only_the_attempt_that_was_judged_is_stopped);
    RUN_ON_CORE(one_that_has_come_to_its_end_is_not_stopped);
    RUN_ON_CORE(a_second_try_begins_without_a_verdict);
    RUN_ON_CORE(records_of_a_step_make_one_point);
    RUN_ON_CORE(an_attempt_that_begins_anew_voids_what_came_before);
    RUN_ON_CORE(time_never_goes_back);
    RUN_ON_CORE(whole_and_stopped_curves_are_told_apart);
    RUN_ON_CORE(long_curves_are_thinned_to_their_end);
    RUN(the_search_learns_what_was_foretold);
    return check_done();
}
