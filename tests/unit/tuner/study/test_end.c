/* How studies end: what becomes of running trials; custom jobs; and trials that
 * are tried again. */
#include "tests/lib/core_fixture.h"

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
