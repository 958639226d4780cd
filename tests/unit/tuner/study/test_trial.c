/* How trials end: final measurements, retries, losses, and who wins. */
#include "proto/base/limits.h"
#include "tests/lib/core_fixture.h"

static void submit(struct fixture *fixture, const char *more)
{
    struct text spec = {0};
    text_printf(&spec,
                "spec: 1\nname: s\ngoal: maximize accuracy\n"
                "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                "algorithm: random\ntrials: 9\nparallel: 1\n"
                "command: [./train]\n%s",
                more);
    CHECK(fixture_submit(fixture, spec.data)->status == HT_OK);
    text_free(&spec);
    fixture_hello(fixture, 4);
}

static void run_with(struct fixture *fixture, const struct leased *leased,
                     const char *records)
{
    fixture_tell(fixture, "started", &leased->name, "");
    if (*records)
        CHECK(fixture_report(fixture, leased->token, records)->status == HT_OK);
    fixture_end(fixture, leased, "\"outcome\":\"succeeded\",\"exit\":0");
}

static void the_newest_step_decides_whatever_came_last(struct fixture *f)
{
    submit(f, "");
    const struct leased leased = fixture_lease_one(f);
    const char *records = arena_printf(
        f->arena, "%s,%s,%s", fixture_record(f, 3, 30, "0.3"),
        fixture_record(f, 1, 10, "0.9"), fixture_record(f, 2, 20, "0.2"));
    run_with(f, &leased, records);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_SUCCEEDED && trial.objective == 0.3);
    CHECK(trial.final_step == 30);
}

static void the_later_of_two_records_of_a_step_decides(struct fixture *f)
{
    submit(f, "");
    const struct leased leased = fixture_lease_one(f);
    const char *records =
        arena_printf(f->arena, "%s,%s", fixture_record(f, 2, 10, "0.2"),
                     fixture_record(f, 1, 10, "0.9"));
    run_with(f, &leased, records);
    CHECK(fixture_trial(f, 1, 1).objective == 0.2);
}

static void the_best_record_decides_when_it_was_asked_for(struct fixture *f)
{
    CHECK(fixture_call(
              f, study_create, NULL,
              "{\"displayName\":\"s\",\"maxTrialCount\":1,"
              "\"parallelTrialCount\":1,\"studySpec\":{\"metrics\":[{"
              "\"metricId\":\"accuracy\",\"goal\":\"MAXIMIZE\"}],"
              "\"parameters\":[{\"parameterId\":\"x\",\"doubleValueSpec\":{"
              "\"minValue\":0,\"maxValue\":1}}],"
              "\"algorithm\":\"RANDOM_SEARCH\","
              "\"measurementSelectionType\":\"BEST_MEASUREMENT\"},"
              "\"trialJobSpec\":{\"workerPoolSpecs\":[{\"replicaCount\":1,"
              "\"containerSpec\":{\"imageUri\":\"i\"}}]}}")
              ->status == HT_OK);
    fixture_hello_images(f, 1);
    const struct leased leased = fixture_lease_one(f);
    const char *records = arena_printf(
        f->arena, "%s,%s,%s", fixture_record(f, 1, 1, "0.2"),
        fixture_record(f, 2, 2, "0.9"), fixture_record(f, 3, 3, "\"NaN\""));
    run_with(f, &leased, records);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_SUCCEEDED && trial.objective == 0.9);
    CHECK(trial.final_step == 2);
}

static void nan_at_the_end_is_infeasible(struct fixture *f)
{
    submit(f, "");
    const struct leased leased = fixture_lease_one(f);
    const char *records =
        arena_printf(f->arena, "%s,%s", fixture_record(f, 1, 4, "0.9"),
                     fixture_record(f, 2, 5, "\"NaN\""));
    run_with(f, &leased, records);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_INFEASIBLE && !trial.has_objective);
    CHECK_TEXT(trial.reason, "accuracy was NaN at step 5");
    CHECK_TEXT(fixture_latest(f, 1, 1).metrics, "{\"accuracy\":\"NaN\"}");
}

static void
other_metrics_are_named_when_the_objective_is_missing(struct fixture *f)
{
    submit(f, "");
    const struct leased leased = fixture_lease_one(f);
    run_with(f, &leased,
             "{\"w\":\"0000000000000001\",\"n\":1,\"t\":1,\"s\":1,"
             "\"m\":{\"acc\":1,\"loss\":2}},"
             "{\"w\":\"0000000000000001\",\"n\":2,\"t\":1,\"s\":2,"
             "\"m\":{\"loss\":2}}");
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_INFEASIBLE);
    CHECK_TEXT(trial.reason,
               "ended without reporting accuracy; saw: acc, loss; acc may be "
               "meant");
}

static void silence_is_infeasible_too(struct fixture *f)
{
    submit(f, "");
    const struct leased leased = fixture_lease_one(f);
    run_with(f, &leased, "");
    CHECK_TEXT(fixture_trial(f, 1, 1).reason,
               "ended without reporting accuracy");
}

static void only_the_master_decides(struct fixture *f)
{
    submit(f, "replicas: {worker: {count: 1}}\n");
    const struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    const char *worker =
        arena_printf(f->arena, "\"replica\":\"worker-0\",\"records\":[%s]",
                     fixture_record(f, 1, 99, "0.99"));
    CHECK(fixture_tell(f, "report", &leased.name, worker)->status == HT_OK);
    fixture_end(f, &leased, "\"outcome\":\"succeeded\"");
    CHECK(fixture_trial(f, 1, 1).objective == 0.5);
}

static void records_shipped_while_draining_count(struct fixture *f)
{
    submit(f, "");
    const struct leased leased = fixture_begin(f);
    fixture_tell(f, "ended", &leased.name, "\"outcome\":\"succeeded\"");
    CHECK(fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.1"))
              ->status == HT_NOT_FOUND);
    const char *rest =
        arena_printf(f->arena, "\"replica\":\"master-0\",\"records\":[%s]",
                     fixture_record(f, 1, 1, "0.5"));
    CHECK(fixture_tell(f, "report", &leased.name, rest)->status == HT_OK);
    CHECK(fixture_tell(f, "drained", &leased.name, "")->status == HT_OK);
    CHECK(fixture_tell(f, "report", &leased.name, rest)->status ==
          HT_NOT_FOUND);
    CHECK(fixture_trial(f, 1, 1).objective == 0.5);
}

static void a_failed_trial_starts_again_after_a_pause(struct fixture *f)
{
    submit(f, "retries: 1\n");
    struct leased leased = fixture_lease_one(f);
    fixture_end_as(f, &leased,
                   "\"outcome\":\"failed\",\"exit\":3,\"reason\":\"exit 3\"");
    const struct trial_row waiting = fixture_trial(f, 1, 1);
    CHECK(waiting.state == TRIAL_REQUESTED && waiting.failures == 1);
    CHECK_TEXT(waiting.reason, "exit 3; retry 1 of 1 after 1s");
    const int64_t before_ms = clock_monotonic_ms();
    leased = fixture_lease_one(f); /* held until the pause is over */
    CHECK(clock_monotonic_ms() - before_ms >= 900);
    CHECK(leased.name.trial == 1 && leased.name.attempt == 2);
    fixture_end_as(f, &leased,
                   "\"outcome\":\"failed\",\"exit\":4,\"reason\":\"exit 4\"");
    const struct trial_row failed = fixture_trial(f, 1, 1);
    CHECK(failed.state == TRIAL_FAILED && failed.failures == 2);
    CHECK_TEXT(failed.reason, "exit 4");
    struct db *db = fixture_db(f);
    struct attempt_list attempts = {0};
    CHECK(db_attempt_list(db, f->arena, 1, 1, &attempts, NULL) == HT_OK);
    CHECK(attempts.n == 2 && attempts.rows[0].exit_code == 3 &&
          attempts.rows[1].outcome == OUTCOME_FAILED &&
          !attempts.rows[1].winner);
    db_close(db);
}

static void a_retry_measures_anew(struct fixture *f)
{
    submit(f, "retries: 1\n");
    struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 50, "0.99"));
    fixture_end(f, &leased, "\"outcome\":\"failed\"");
    leased = fixture_lease_one(f);
    CHECK(fixture_latest(f, 1, 1).metrics == NULL);
    fixture_succeed(f, &leased, "0.5");
    CHECK(fixture_trial(f, 1, 1).objective == 0.5);
}

static void
a_start_that_is_lost_is_tried_again_but_not_for_ever(struct fixture *f)
{
    fixture_stop(f);
    f->options.retry_ms = 1;
    CHECK(fixture_start(f));
    submit(f, "retries: 0\n");
    for (int i = 1; i <= HT_MAX_LOST + 1; i++) {
        const struct leased leased = fixture_lease_one(f);
        CHECK(leased.name.trial == 1 && leased.name.attempt == i);
        fixture_end(f, &leased, "\"outcome\":\"lost\",\"reason\":\"no disk\"");
    }
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_FAILED && trial.failures == 0);
    CHECK_TEXT(trial.reason, "lost 11 times in a row: no disk");
}

static void a_trial_out_of_time_keeps_what_it_reported(struct fixture *f)
{
    submit(f, "trialTimeout: 10m\nretries: 5\n");
    struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    fixture_end(f, &leased, "\"outcome\":\"timeout\"");
    const struct trial_row kept = fixture_trial(f, 1, 1);
    CHECK(kept.state == TRIAL_STOPPED && kept.objective == 0.5);
    CHECK_TEXT(kept.reason, "ran longer than 10m");
    leased = fixture_lease_one(f);
    CHECK(leased.name.trial == 2);
    fixture_end_as(f, &leased, "\"outcome\":\"timeout\"");
    CHECK(fixture_trial(f, 1, 2).state == TRIAL_FAILED);
}

static void one_trial_can_be_stopped(struct fixture *f)
{
    submit(f, "");
    const struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    CHECK(fixture_call_trial(f, trial_stop, "s", "1", NULL)->status == HT_OK);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_STOPPING);
    struct request *again =
        fixture_report(f, leased.token, fixture_record(f, 2, 2, "0.6"));
    CHECK(node_get_bool(fixture_reply(again), "stop", false));
    fixture_end(f, &leased, "\"outcome\":\"succeeded\"");
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.6);
    CHECK_TEXT(trial.reason, "stopped by user");
}

static void a_superseded_attempt_changes_nothing(struct fixture *f)
{
    submit(f, "");
    const struct leased old = fixture_lease_one(f);
    fixture_end_as(f, &old, "\"outcome\":\"lost\"");
    const struct leased new = fixture_lease_one(f);
    CHECK(new.name.attempt == 2);
    CHECK(
        fixture_report(f, old.token, fixture_record(f, 1, 1, "0.99"))->status ==
        HT_NOT_FOUND);
    CHECK(fixture_tell(f, "started", &old.name, "")->status == HT_NOT_FOUND);
    CHECK(fixture_tell(f, "ended", &old.name, "\"outcome\":\"succeeded\"")
              ->status == HT_NOT_FOUND);
    CHECK(fixture_tell(f, "drained", &old.name, "")->status == HT_NOT_FOUND);
    fixture_succeed(f, &new, "0.5");
    CHECK(fixture_trial(f, 1, 1).objective == 0.5);
}

static struct request *report_as(struct fixture *f, const char *token,
                                 const char *replica)
{
    struct text text = {0};
    text_printf(&text,
                "{\"v\":1,\"type\":\"report\",\"token\":\"%s\",\"id\":1,"
                "\"replica\":\"%s\",\"records\":[%s]}",
                token, replica, fixture_record(f, 1, 1, "0.5"));
    struct request *req = fixture_request(f, report_handle, text.data);
    text_free(&text);
    core_post(f->core, req);
    fixture_wait(f, req);
    return req;
}

static int64_t count_records(struct fixture *f, int64_t trial)
{
    struct measurement_list list = {0};
    struct db *db = fixture_db(f);
    CHECK(db_measurement_list(db, f->arena, 1, trial, 100, &list, NULL) ==
          HT_OK);
    db_close(db);
    return (int64_t)list.n;
}

static void a_token_is_for_the_replicas_of_its_own_attempt(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 2\n"
                      "command: [./train]\nreplicas: {worker: {count: 2}}\n");
    fixture_hello(f, 4);
    struct leased leased[2];
    CHECK(fixture_lease(f, 2, leased) == 2);
    static const char *const own[] = {"master-0", "worker-0", "worker-1"};
    for (size_t i = 0; i < 3; i++)
        CHECK(report_as(f, leased[0].token, own[i])->status == HT_OK);
    CHECK(count_records(f, leased[0].name.trial) == 3);
    CHECK(count_records(f, leased[1].name.trial) == 0);
    static const char *const others[] = {
        "worker-2", "master-1", "ps-0", "worker-00", "worker-", "../master-0"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(report_as(f, leased[0].token, others[i])->status == HT_INVALID);
    /* Another start of the trial has another token; the old one is nothing. */
    fixture_end_as(f, &leased[0], "\"outcome\":\"lost\"");
    struct leased again = fixture_lease_one(f);
    CHECK(again.name.trial == leased[0].name.trial && again.name.attempt == 2);
    for (size_t i = 0; i < 3; i++)
        CHECK(report_as(f, leased[0].token, own[i])->status == HT_NOT_FOUND);
    CHECK(report_as(f, again.token, "worker-1")->status == HT_OK);
    CHECK(
        report_as(f, "0123456789abcdef0123456789abcdef", "master-0")->status !=
        HT_OK);
    fixture_tell(f, "started", &again.name, "");
    fixture_tell(f, "ended", &again.name, "\"outcome\":\"succeeded\"");
    CHECK(report_as(f, again.token, "master-0")->status == HT_NOT_FOUND);
}

static void drained_before_ended_is_invalid(struct fixture *f)
{
    submit(f, "");
    const struct leased leased = fixture_lease_one(f);
    CHECK(fixture_tell(f, "drained", &leased.name, "")->status == HT_INVALID);
    CHECK(fixture_tell(f, "ended", &leased.name, "\"outcome\":\"well\"")
              ->status == HT_INVALID);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_ACTIVE);
}

int main(void)
{
    RUN_ON_CORE(the_newest_step_decides_whatever_came_last);
    RUN_ON_CORE(the_later_of_two_records_of_a_step_decides);
    RUN_ON_CORE(the_best_record_decides_when_it_was_asked_for);
    RUN_ON_CORE(nan_at_the_end_is_infeasible);
    RUN_ON_CORE(other_metrics_are_named_when_the_objective_is_missing);
    RUN_ON_CORE(silence_is_infeasible_too);
    RUN_ON_CORE(only_the_master_decides);
    RUN_ON_CORE(records_shipped_while_draining_count);
    RUN_ON_CORE(a_failed_trial_starts_again_after_a_pause);
    RUN_ON_CORE(a_retry_measures_anew);
    RUN_ON_CORE(a_start_that_is_lost_is_tried_again_but_not_for_ever);
    RUN_ON_CORE(a_trial_out_of_time_keeps_what_it_reported);
    RUN_ON_CORE(one_trial_can_be_stopped);
    RUN_ON_CORE(a_superseded_attempt_changes_nothing);
    RUN_ON_CORE(a_token_is_for_the_replicas_of_its_own_attempt);
    RUN_ON_CORE(drained_before_ended_is_invalid);
    return check_done();
}
