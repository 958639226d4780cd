/* When the early stopping rule is asked about a trial, and what its verdict
 * does: on the core thread with made-up verdicts. */
#include "tuner/study/early_stop.h"

#include "tests/lib/core_fixture.h"
#include "tuner/core/live.h"
#include "tuner/search/stop_worker.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "algorithm: random\ntrials: 9\nparallel: 1\ncommand: [./train]\n"
    "earlyStopping: {rule: median}\n";

static enum ht_status ask_all(struct core *core, struct request *req,
                              struct ht_error *err)
{
    struct job job = {.n_metrics = 1, .early_stop = {.rule = EARLY_MEDIAN}};
    struct trial_row trial = {.study = 1, .id = 1, .state = TRIAL_ACTIVE};
    (void)err;
    CHECK(early_stop_ask(core, &job, &trial, false));
    trial.confirms = 7;
    CHECK(!early_stop_ask(core, &job, &trial, false));
    trial.confirms = 0;
    trial.state = TRIAL_STOPPING;
    CHECK(!early_stop_ask(core, &job, &trial, false));
    trial.state = TRIAL_ACTIVE;
    job.early_stop.rule = EARLY_NONE;
    CHECK(!early_stop_ask(core, &job, &trial, false));
    job.early_stop.rule = EARLY_MEDIAN;
    job.n_metrics = 0;
    CHECK(!early_stop_ask(core, &job, &trial, false));
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void only_active_trials_of_the_search_are_judged(struct fixture *f)
{
    CHECK(fixture_call(f, ask_all, NULL, NULL)->status == HT_OK);
}

static struct stop_finding the_finding;

static enum ht_status store(struct core *core, struct request *req,
                            struct ht_error *err)
{
    live_trial(core_live(core), 1, 1)->verdict_due = true;
    text_puts(&req->reply, "{}");
    return early_stop_receiver.store(core, &the_finding, err);
}

static enum ht_status is_judged(struct core *core, struct request *req,
                                struct ht_error *err)
{
    (void)err;
    CHECK(!live_trial(core_live(core), 1, 1)->verdict_due);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void verdict(struct fixture *f, struct stop_finding finding)
{
    the_finding = finding;
    CHECK(fixture_call(f, store, NULL, NULL)->status == HT_OK);
    CHECK(fixture_call(f, is_judged, NULL, NULL)->status == HT_OK);
}

static const struct stop_finding stops = {
    .study = 1,
    .trial = 1,
    .attempt = 1,
    .verdict = {.action = STOP_NOW, .rung = -1},
    .record = "{}",
    .reason = "too slow"};

static void a_verdict_to_stop_stops_a_running_trial(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    fixture_begin(f);
    struct stop_finding finding = stops;
    finding.verdict.action = STOP_GO_ON;
    verdict(f, finding);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_ACTIVE);
    finding = stops;
    finding.attempt = 2; /* of another attempt than the newest */
    verdict(f, finding);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_ACTIVE);
    verdict(f, stops);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_STOPPING && !trial.pausing);
    CHECK_TEXT(trial.reason, "too slow");
    CHECK_TEXT(trial.stop, "{}");
}

static void a_verdict_about_a_trial_that_ended_does_nothing(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    const struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    verdict(f, stops);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_SUCCEEDED);
    struct stop_finding finding = stops;
    finding.trial = 77; /* deleted since */
    the_finding = finding;
    CHECK(fixture_call(f, store, NULL, NULL)->status == HT_OK);
}

int main(void)
{
    RUN_ON_CORE(only_active_trials_of_the_search_are_judged);
    RUN_ON_CORE(a_verdict_to_stop_stops_a_running_trial);
    RUN_ON_CORE(a_verdict_about_a_trial_that_ended_does_nothing);
    return check_done();
}
