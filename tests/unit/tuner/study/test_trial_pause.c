/* Trials that give up their slot for a while: what becomes of their rows. */
#include "tuner/study/trial_pause.h"

#include "tests/lib/core_fixture.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "algorithm: random\ntrials: 2\nparallel: 1\ncommand: [./train]\n";

static enum ht_status with_trial(struct core *core, struct request *req,
                                 struct trial_row *trial, struct ht_error *err)
{
    text_puts(&req->reply, "{}");
    return db_trial_get(core_db(core), req->arena, 1, 1, trial, err);
}

static enum ht_status pause_it(struct core *core, struct request *req,
                               struct ht_error *err)
{
    struct trial_row trial;
    enum ht_status status = with_trial(core, req, &trial, err);
    if (status == HT_OK)
        status = trial_pause(core, req->arena, &trial, "later", err);
    CHECK(trial.state == TRIAL_STOPPING && trial.pausing);
    return status;
}

static enum ht_status promote(struct core *core, struct request *req,
                              struct ht_error *err)
{
    struct trial_row trial;
    enum ht_status status = with_trial(core, req, &trial, err);
    if (status == HT_OK)
        status = trial_pause_promote(core, req->arena, &trial, err);
    CHECK(trial.state == TRIAL_REQUESTED && trial.rungs_passed == 1);
    return status;
}

static enum ht_status end_it(struct core *core, struct request *req,
                             struct ht_error *err)
{
    struct trial_row trial;
    enum ht_status status = with_trial(core, req, &trial, err);
    if (status == HT_OK)
        status = trial_pause_end(core, req->arena, &trial, "enough", err);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.5);
    return status;
}

/* Its attempt ends after it was asked to pause. */
static void come_to_pause(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    const struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    CHECK(fixture_call(f, pause_it, NULL, NULL)->status == HT_OK);
    CHECK(fixture_trial(f, 1, 1).pausing);
    fixture_end(f, &leased, "\"outcome\":\"stopped\",\"exit\":0");
}

static void a_trial_that_was_asked_to_pause_is_paused(struct fixture *f)
{
    come_to_pause(f);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_PAUSED && !trial.pausing);
    CHECK_TEXT(trial.reason, "later");
}

static void it_continues_with_the_scores_that_it_had(struct fixture *f)
{
    come_to_pause(f);
    CHECK(fixture_call(f, promote, NULL, NULL)->status == HT_OK);
    const struct leased again = fixture_lease_one(f);
    CHECK(again.name.attempt == 2);
    fixture_end_as(f, &again, "\"outcome\":\"succeeded\",\"exit\":0");
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_SUCCEEDED && trial.objective == 0.5);
}

static void or_it_ends_with_its_result_so_far(struct fixture *f)
{
    come_to_pause(f);
    CHECK(fixture_call(f, end_it, NULL, NULL)->status == HT_OK);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.5);
    CHECK_TEXT(trial.reason, "enough");
}

int main(void)
{
    RUN_ON_CORE(a_trial_that_was_asked_to_pause_is_paused);
    RUN_ON_CORE(it_continues_with_the_scores_that_it_had);
    RUN_ON_CORE(or_it_ends_with_its_result_so_far);
    return check_done();
}
