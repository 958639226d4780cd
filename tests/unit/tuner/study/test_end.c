/* How studies end: the rules and their vetoes, with time as the test says; what
 * becomes of running trials; custom jobs; and trials that are tried again. */
#include "tests/lib/core_fixture.h"
#include "tuner/core/live.h"
#include "tuner/study/end_rules.h"

#define SPEC(more)                                                             \
    "spec: 1\nname: s\ngoal: maximize accuracy\nparameters:\n"                 \
    "  lr: {type: double, min: 0, max: 1}\nalgorithm: random\n"                \
    "command: [./train]\n" more

static const struct node *status_of(struct request *req)
{
    return node_find(fixture_reply(req), "hypertuneStatus");
}

static const char *state_of(struct request *req)
{
    return node_get_string(status_of(req), "state", "");
}

/* --- the rules alone, on the core thread with made-up facts --- */

struct facts {
    struct stopping until;
    struct cancelling cancel_after;
    int64_t max_trials, max_failed;
    int64_t created, succeeded, failed, open;
    int64_t used_ms, gain_ms, stale;
    int64_t begun_ms; /* 0: no trial has started */
    enum study_state state;
    enum job_kind kind;
};

struct judged {
    bool ends;
    enum study_state as;
    char reason[128];
    int64_t next_ms; /* until the next look; -1: never */
};

static struct facts the_facts;
static struct judged the_judgement;

static enum ht_status judge_here(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    const struct facts *facts = &the_facts;
    static const struct metric_goal goal = {.name = "accuracy",
                                            .maximize = true};
    const struct job job = {.kind = facts->kind,
                            .n_metrics = 1,
                            .metrics = &goal,
                            .max_trials = facts->max_trials,
                            .max_failed = facts->max_failed,
                            .parallel = 1,
                            .until = facts->until,
                            .cancel_after = facts->cancel_after};
    struct settling now = {.core = core,
                           .arena = req->arena,
                           .row = {.id = 1,
                                   .kind = facts->kind,
                                   .state = facts->state,
                                   .next_trial = facts->created + 1,
                                   .stale_trials = facts->stale,
                                   .first_run_used_ms = facts->begun_ms,
                                   .gain_ms = facts->gain_ms},
                           .job = &job,
                           .used_ms = facts->used_ms};
    now.counts.of[TRIAL_SUCCEEDED] = facts->succeeded;
    now.counts.of[TRIAL_FAILED] = facts->failed;
    now.counts.of[TRIAL_ACTIVE] = facts->open;
    struct ending end = {0};
    const enum ht_status status = study_find_end(&now, &end, err);
    const int64_t next = study_next_end_ms(&now);
    the_judgement = (struct judged){
        .ends = end.reason != NULL,
        .as = end.as,
        .next_ms = next == LIVE_NEVER ? -1 : next - core_now_ms(core)};
    snprintf(the_judgement.reason, sizeof the_judgement.reason, "%s",
             end.reason == NULL ? "" : end.reason);
    text_puts(&req->reply, "{}");
    return status;
}

static struct judged judge(struct fixture *f, struct facts facts)
{
    the_facts = facts;
    CHECK(fixture_call(f, judge_here, NULL, NULL)->status == HT_OK);
    return the_judgement;
}

/* A study in the middle of its life, without rules. */
static const struct facts middle = {.max_trials = 10,
                                    .created = 5,
                                    .succeeded = 4,
                                    .open = 1,
                                    .used_ms = 60000};

static void
without_a_rule_it_goes_on_until_all_trials_have_ended(struct fixture *f)
{
    struct facts facts = middle;
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == -1);
    facts.created = facts.succeeded = 10;
    CHECK(!judge(f, facts).ends); /* one runs */
    facts.open = 0;
    CHECK(judge(f, facts).ends);
    CHECK(the_judgement.as == STUDY_SUCCEEDED);
    CHECK_TEXT(the_judgement.reason, "all 10 trials have ended");
}

static void
a_job_is_cancelled_when_its_limit_of_running_is_over(struct fixture *f)
{
    struct facts facts = middle;
    facts.begun_ms = 50000; /* what it had waited does not count */
    facts.cancel_after =
        (struct cancelling){.waiting_ms = 1, .running_ms = 10001};
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == 1);
    facts.cancel_after.running_ms = 10000;
    CHECK(judge(f, facts).ends);
    CHECK(the_judgement.as == STUDY_CANCELLED);
    CHECK_TEXT(the_judgement.reason, "it ran longer than its limit of 10s");
    facts.until.min_time_ms = 90000; /* no veto holds it up */
    CHECK(judge(f, facts).ends);
    facts.cancel_after.running_ms = INT64_C(86400000);
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == 30000);
    facts.state = STUDY_PAUSED;
    facts.until.min_time_ms = 0;
    CHECK(judge(f, facts).next_ms == -1);
    facts.state = STUDY_RUNNING;
    facts.kind = JOB_STUDY; /* it is not run here */
    facts.cancel_after.running_ms = 1;
    CHECK(!judge(f, facts).ends && the_judgement.next_ms == -1);
}

static void a_job_that_has_ended_in_time_is_not_cancelled(struct fixture *f)
{
    struct facts facts = middle;
    facts.created = facts.succeeded = 10;
    facts.open = 0;
    facts.cancel_after.running_ms = 1;
    CHECK(judge(f, facts).as == STUDY_SUCCEEDED);
}

static void a_job_that_waits_too_long_is_cancelled(struct fixture *f)
{
    struct facts facts = {
        .max_trials = 10,
        .created = 1,
        .open = 1,
        .used_ms = 60000,

        .cancel_after = {.waiting_ms = 60001, .running_ms = 1}};
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == 1);
    facts.cancel_after.waiting_ms = 60000;
    CHECK(judge(f, facts).ends);
    CHECK(the_judgement.as == STUDY_CANCELLED);
    CHECK_TEXT(the_judgement.reason, "no trial started within its limit of 1m");
    facts.begun_ms = 59999;
    facts.cancel_after.running_ms = 2;
    CHECK(!judge(f, facts).ends);
}

static void running_time_ends_a_study_on_time(struct fixture *f)
{
    struct facts facts = middle;
    facts.until.time_ms = 60001;
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == 1);
    facts.until.time_ms = 60000;
    CHECK(judge(f, facts).ends);
    CHECK_TEXT(the_judgement.reason, "its time of 1m is over");
    facts.until.time_ms = INT64_C(86400000);
    CHECK(!judge(f, facts).ends);
    /* Looked at now and then, so that a crash loses little running time. */
    CHECK(the_judgement.next_ms == 30000);
    facts.state = STUDY_PAUSED;
    CHECK(judge(f, facts).next_ms == -1);
}

static void a_moment_ends_a_study_and_is_looked_for_often(struct fixture *f)
{
    struct facts facts = middle;
    facts.until.end_ms = clock_wall_ms() + 3600000;
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == 10000); /* the clock may be set */
    facts.until.end_ms = clock_wall_ms() + 5000;
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms > 0 && the_judgement.next_ms <= 5000);
    facts.until.end_ms = 1600000000000;
    CHECK(judge(f, facts).ends);
    CHECK_TEXT(the_judgement.reason,
               "it was to end at 2020-09-13T12:26:40.000Z");
    facts.state = STUDY_PAUSED;
    CHECK(judge(f, facts).ends);
}

static void no_progress_is_counted_in_trials_and_in_time(struct fixture *f)
{
    struct facts facts = middle;
    facts.until.no_progress = 3;
    facts.stale = 2;
    CHECK(!judge(f, facts).ends);
    facts.stale = 3;
    CHECK(judge(f, facts).ends);
    CHECK_TEXT(the_judgement.reason, "no progress in the last 3 trials");
    facts = middle;
    facts.until.no_progress_ms = 20000;
    facts.gain_ms = 45000;
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == 5000);
    facts.gain_ms = 40000;
    CHECK(judge(f, facts).ends);
    CHECK_TEXT(the_judgement.reason, "no progress for 20s");
}

static void
a_veto_holds_back_rules_but_not_failures_and_counts(struct fixture *f)
{
    struct facts facts = middle;
    facts.until.time_ms = 1000;
    facts.until.no_progress = 1;
    facts.stale = 4;
    facts.until.min_trials = 5;
    CHECK(!judge(f, facts).ends);
    facts.succeeded = 5;
    CHECK(judge(f, facts).ends);
    facts.until.min_time_ms = 60500;
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == 500);
    facts.used_ms = 60500;
    CHECK(judge(f, facts).ends);
    facts.until.min_end_ms = clock_wall_ms() + 3600000;
    CHECK(!judge(f, facts).ends);
    CHECK(the_judgement.next_ms == 10000);
    facts.max_failed = facts.failed = 2;
    CHECK(judge(f, facts).ends);
    CHECK(the_judgement.as == STUDY_FAILED);
    CHECK_TEXT(the_judgement.reason, "2 trials failed, limit 2");
    facts.max_failed = 0;
    facts.open = 0;
    facts.created = 10;
    CHECK(judge(f, facts).ends);
    CHECK_TEXT(the_judgement.reason, "all 10 trials have ended");
}

static void the_first_rule_that_applies_decides(struct fixture *f)
{
    struct facts facts = middle;
    facts.until.time_ms = 1000;
    facts.until.end_ms = 1000;
    facts.until.no_progress = 1;
    facts.stale = 4;
    facts.until.no_progress_ms = 1000;
    CHECK_TEXT(judge(f, facts).reason, "its time of 1s is over");
    facts.until.time_ms = 0;
    CHECK_TEXT(judge(f, facts).reason,
               "it was to end at 1970-01-01T00:00:01.000Z");
    facts.until.end_ms = 0;
    CHECK_TEXT(judge(f, facts).reason, "no progress in the last 4 trials");
    facts.until.no_progress = 0;
    CHECK_TEXT(judge(f, facts).reason, "no progress for 1s");
}

static void a_study_of_clients_may_have_no_limit(struct fixture *f)
{
    struct facts facts = middle;
    facts.kind = JOB_STUDY;
    facts.max_trials = 0;
    facts.open = 0;
    CHECK(!judge(f, facts).ends);
    facts.max_trials = 5;
    CHECK(judge(f, facts).ends);
}

/* --- what becomes of running trials --- */

static void running_trials_may_finish_after_an_end_by_plan(struct fixture *f)
{
    CHECK(fixture_submit(f, SPEC("trials: 9\nparallel: 3\n"
                                 "until: {target: 0.9, letFinish: true}\n"))
              ->status == HT_OK);
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    fixture_succeed(f, &leased[0], "0.95");
    struct study_row study = fixture_study(f, 1);
    CHECK(study.state == STUDY_STOPPING);
    CHECK_TEXT(study.reason, "trial 1 reached accuracy 0.95, target 0.9");
    CHECK(fixture_trial(f, 1, 2).state == TRIAL_ACTIVE);
    CHECK(fixture_trial(f, 1, 3).state == TRIAL_CANCELLED);
    fixture_succeed(f, &leased[1], "0.97");
    study = fixture_study(f, 1);
    CHECK(study.state == STUDY_SUCCEEDED);
    CHECK_TEXT(study.reason, "trial 1 reached accuracy 0.95, target 0.9");
    CHECK(fixture_trial(f, 1, 2).state == TRIAL_SUCCEEDED);
    CHECK(study.next_trial == 4);
}

static void a_retry_is_no_running_trial_when_the_study_ends(struct fixture *f)
{
    fixture_submit(f, SPEC("trials: 9\nparallel: 2\nretries: 3\n"
                           "until: {target: 0.9, letFinish: true}\n"));
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    fixture_succeed(f, &leased[0], "0.95");
    fixture_end_as(f, &leased[1], "\"outcome\":\"failed\",\"exit\":3");
    CHECK(fixture_study(f, 1).state == STUDY_SUCCEEDED);
    CHECK(fixture_trial(f, 1, 2).state == TRIAL_CANCELLED);
}

static void stop_ends_the_wait_for_running_trials(struct fixture *f)
{
    fixture_submit(f, SPEC("trials: 9\nparallel: 2\n"
                           "until: {target: 0.9, letFinish: true}\n"));
    fixture_hello(f, 2);
    struct leased leased[2] = {0};
    CHECK(fixture_lease(f, 2, leased) == 2);
    fixture_succeed(f, &leased[0], "0.95");
    struct request *req = fixture_call(f, study_stop, "s", NULL);
    CHECK_TEXT(state_of(req), "STOPPING");
    CHECK_TEXT(node_get_string(status_of(req), "reason", ""),
               "stopped by user");
    CHECK(fixture_trial(f, 1, 2).state == TRIAL_STOPPING);
    fixture_end_as(f, &leased[1], "\"outcome\":\"stopped\",\"signal\":15");
    CHECK(fixture_study(f, 1).state == STUDY_STOPPED);
}

static void
a_result_that_comes_with_the_end_makes_it_a_success(struct fixture *f)
{
    fixture_submit(f, SPEC("trials: 9\nuntil: {time: 10ms}\n"));
    fixture_hello(f, 1);
    CHECK(fixture_await_study(f, 1, STUDY_FAILED)); /* nothing ran */
    CHECK_TEXT(fixture_study(f, 1).reason,
               "no trial succeeded (its time of 10ms is over)");
    fixture_submit(f, "spec: 1\nname: t\ngoal: maximize accuracy\n"
                      "parameters:\n  lr: [1, 2]\nalgorithm: grid\n"
                      "until: {time: 1s}\ncommand: [./train]\n");
    struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    CHECK(fixture_await_study(f, 2, STUDY_STOPPING));
    fixture_end(f, &leased, "\"outcome\":\"stopped\",\"signal\":15");
    CHECK(fixture_study(f, 2).state == STUDY_SUCCEEDED);
    CHECK_TEXT(fixture_study(f, 2).reason, "its time of 1s is over");
    CHECK_TEXT(fixture_trial(f, 2, 1).reason, "its time of 1s is over");
    CHECK(fixture_study(f, 2).used_ms >= 1000);
}

/* --- custom jobs --- */

static const char custom[] =
    "{\"displayName\":\"once\",\"hypertune\":{\"name\":\"c\",\"retries\":\"0\"}"
    ","
    "\"jobSpec\":{\"workerPoolSpecs\":[{\"replicaCount\":\"1\","
    "\"containerSpec\":{\"imageUri\":\"i\",\"command\":[\"./train\"]}}]}}";

static void a_custom_job_is_as_its_one_trial_is(struct fixture *f)
{
    struct request *req = fixture_call(f, study_create_custom, NULL, custom);
    CHECK(req->status == HT_OK);
    const struct node *job = fixture_reply(req);
    CHECK_TEXT(node_get_string(job, "name", ""),
               "projects/local/locations/local/customJobs/1");
    CHECK_TEXT(node_get_string(job, "state", ""), "JOB_STATE_PENDING");
    CHECK(node_find(job, "trials") == NULL);
    CHECK(node_find(status_of(req), "algorithm") == NULL);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_REQUESTED);
    fixture_hello_images(f, 2);
    struct leased leased = fixture_lease_one(f);
    CHECK_TEXT(node_get_string(leased.node, "kind", ""), "custom");
    CHECK(node_find(leased.node, "params")->count == 0);
    fixture_end_as(f, &leased, "\"outcome\":\"succeeded\",\"exit\":0");
    CHECK(fixture_study(f, 1).state == STUDY_SUCCEEDED);
    CHECK_TEXT(fixture_study(f, 1).reason, "it has ended well");
    CHECK(fixture_study(f, 1).next_trial == 2);
}

static void a_custom_job_that_failed_may_be_tried_again(struct fixture *f)
{
    fixture_call(f, study_create_custom, NULL, custom);
    fixture_hello_images(f, 1);
    struct leased leased = fixture_lease_one(f);
    fixture_end_as(f, &leased,
                   "\"outcome\":\"failed\",\"exit\":3,\"reason\":\"exit 3\"");
    CHECK(fixture_study(f, 1).state == STUDY_FAILED);
    CHECK_TEXT(fixture_study(f, 1).reason, "exit 3");
    CHECK(fixture_call_trial(f, trial_retry, "c", "1", NULL)->status == HT_OK);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    CHECK(fixture_lease(f, 1, &leased) == 1 && leased.name.attempt == 2);
    fixture_end_as(f, &leased, "\"outcome\":\"succeeded\",\"exit\":0");
    CHECK(fixture_study(f, 1).state == STUDY_SUCCEEDED);
}

/* --- trying again --- */

static struct request *retry(struct fixture *f, const char *trial)
{
    return fixture_call_trial(f, trial_retry, "s", trial, NULL);
}

static void
a_failed_trial_is_tried_again_in_a_study_that_ended(struct fixture *f)
{
    fixture_submit(f, SPEC("trials: 2\nretries: 0\n"));
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    fixture_end_as(f, &leased, "\"outcome\":\"failed\",\"exit\":3");
    leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    CHECK(fixture_study(f, 1).state == STUDY_SUCCEEDED);
    struct request *req = retry(f, "1");
    CHECK(req->status == HT_OK);
    CHECK_TEXT(node_get_string(node_find(fixture_reply(req), "hypertune"),
                               "reason", ""),
               "retried by user");
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    CHECK(retry(f, "1")->status == HT_PRECONDITION); /* it waits */
    CHECK(retry(f, "2")->status == HT_PRECONDITION); /* it went well */
    CHECK(retry(f, "3")->status == HT_NOT_FOUND);
    leased = fixture_lease_one(f);
    CHECK(leased.name.trial == 1 && leased.name.attempt == 2);
    fixture_succeed(f, &leased, "0.75");
    CHECK(fixture_study(f, 1).state == STUDY_SUCCEEDED);
    CHECK(fixture_trial(f, 1, 1).objective == 0.75);
    CHECK(fixture_study(f, 1).next_trial == 3);
}

static void
a_stopped_trial_gives_its_result_back_when_tried_again(struct fixture *f)
{
    fixture_submit(f, SPEC("trials: 2\n"));
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.9"));
    CHECK(fixture_call_trial(f, trial_stop, "s", "1", NULL)->status == HT_OK);
    fixture_end(f, &leased, "\"outcome\":\"stopped\",\"signal\":15");
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_STOPPED);
    CHECK(retry(f, "1")->status == HT_OK);
    CHECK(!fixture_trial(f, 1, 1).has_objective);
    leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    CHECK(fixture_trial(f, 1, leased.name.trial).objective == 0.5);
}

static void a_study_that_would_end_again_says_by_which_rule(struct fixture *f)
{
    fixture_submit(f, SPEC("trials: 5\nretries: 0\nuntil: {target: 0.4}\n"));
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    fixture_end_as(f, &leased, "\"outcome\":\"failed\",\"exit\":3");
    leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    CHECK(fixture_study(f, 1).state == STUDY_SUCCEEDED);
    const int64_t before = fixture_study(f, 1).revision;
    struct request *req = retry(f, "1");
    CHECK(req->status == HT_PRECONDITION);
    CHECK_TEXT(req->err.text, "study s would end again at once: trial 2 "
                              "reached accuracy 0.5, target 0.4");
    CHECK(fixture_study(f, 1).state == STUDY_SUCCEEDED);
    CHECK(fixture_study(f, 1).revision == before);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_FAILED);
}

int main(void)
{
    RUN_ON_CORE(without_a_rule_it_goes_on_until_all_trials_have_ended);
    RUN_ON_CORE(a_job_is_cancelled_when_its_limit_of_running_is_over);
    RUN_ON_CORE(a_job_that_has_ended_in_time_is_not_cancelled);
    RUN_ON_CORE(a_job_that_waits_too_long_is_cancelled);
    RUN_ON_CORE(running_time_ends_a_study_on_time);
    RUN_ON_CORE(a_moment_ends_a_study_and_is_looked_for_often);
    RUN_ON_CORE(no_progress_is_counted_in_trials_and_in_time);
    RUN_ON_CORE(a_veto_holds_back_rules_but_not_failures_and_counts);
    RUN_ON_CORE(the_first_rule_that_applies_decides);
    RUN_ON_CORE(a_study_of_clients_may_have_no_limit);
    RUN_ON_CORE(running_trials_may_finish_after_an_end_by_plan);
    RUN_ON_CORE(a_retry_is_no_running_trial_when_the_study_ends);
    RUN_ON_CORE(stop_ends_the_wait_for_running_trials);
    RUN_ON_CORE(a_result_that_comes_with_the_end_makes_it_a_success);
    RUN_ON_CORE(a_custom_job_is_as_its_one_trial_is);
    RUN_ON_CORE(a_custom_job_that_failed_may_be_tried_again);
    RUN_ON_CORE(a_failed_trial_is_tried_again_in_a_study_that_ended);
    RUN_ON_CORE(a_stopped_trial_gives_its_result_back_when_tried_again);
    RUN_ON_CORE(a_study_that_would_end_again_says_by_which_rule);
    return check_done();
}
