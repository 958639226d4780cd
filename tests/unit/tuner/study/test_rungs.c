/* Trials on the rungs of ASHA: who pauses, who goes on, and what becomes of
 * paused trials whatever happens meanwhile. */
#include "tests/lib/core_fixture.h"
#include "tuner/search/stop_worker.h"
#include "tuner/study/early_stop.h"

static void submit(struct fixture *f, int trials, const char *rule)
{
    struct text spec = {0};
    text_printf(&spec,
                "spec: 1\nname: s\ngoal: maximize accuracy\n"
                "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                "algorithm: random\ntrials: %d\nparallel: 1\nretries: 1\n"
                "command: [./train]\nearlyStopping: {rule: asha, "
                "minSteps: 1, maxSteps: 9%s}\n",
                trials, rule);
    CHECK(fixture_submit(f, spec.data)->status == HT_OK);
    text_free(&spec);
    fixture_hello(f, 1);
}

#define PAUSING ", pause: true"

static void report(struct fixture *f, const struct leased *leased, int64_t step,
                   const char *accuracy)
{
    CHECK(fixture_report(f, leased->token,
                         fixture_record(f, step, step, accuracy))
              ->status == HT_OK);
}

static void end(struct fixture *f, const struct leased *leased,
                const char *outcome)
{
    const char *text =
        arena_printf(f->arena, "\"outcome\":\"%s\",\"exit\":0", outcome);
    fixture_end(f, leased, text);
}

/* Begins the next trial, which comes to a step and is told to pause there. */
static struct leased come_to(struct fixture *f, int64_t step,
                             const char *accuracy)
{
    const struct leased leased = fixture_begin(f);
    report(f, &leased, step, accuracy);
    CHECK(fixture_await_trials(f, 1, TRIAL_STOPPING, 1));
    return leased;
}

static struct leased pause_at(struct fixture *f, int64_t step,
                              const char *accuracy)
{
    const struct leased leased = come_to(f, step, accuracy);
    end(f, &leased, "stopped");
    return leased;
}

static bool is_in(struct fixture *f, int64_t trial, enum trial_state state)
{
    const enum trial_state is = fixture_trial(f, 1, trial).state;
    if (is != state)
        printf("# trial %lld is %s\n", (long long)trial,
               db_trial_state_name(is));
    return is == state;
}

static void the_best_of_a_rung_goes_on_from_its_checkpoint(struct fixture *f)
{
    submit(f, 9, PAUSING);
    pause_at(f, 1, "0.5");
    CHECK(is_in(f, 1, TRIAL_PAUSED));
    CHECK_TEXT(fixture_trial(f, 1, 1).reason,
               "paused by the asha rule at step 1");
    pause_at(f, 1, "0.7");
    CHECK(is_in(f, 2, TRIAL_PAUSED)); /* of two, no third is left */
    pause_at(f, 1, "0.6");
    const struct trial_row third = fixture_trial(f, 1, 3);
    CHECK_TEXT(third.reason,
               "paused by the asha rule at step 1: value 0.6 < "
               "needed 0.7 of 3 trials; predicted final 0.6 \u00b1 0.1");
    CHECK(strstr(third.stop, "\"rung\":0") != NULL);
    const struct leased again = fixture_lease_one(f);
    CHECK(again.name.trial == 2 && again.name.attempt == 2);
    const struct trial_row best = fixture_trial(f, 1, 2);
    CHECK(best.rungs_passed == 1 && best.state == TRIAL_ACTIVE);
    CHECK_TEXT(best.stop, "");
    CHECK(fixture_latest(f, 1, 2).step == 1); /* it is still there */
    report(f, &again, 2, "0.8");
    report(f, &again, 9, "0.9"); /* rung 1 is passed on the way: no other */
    CHECK(fixture_await_trials(f, 1, TRIAL_STOPPING, 1));
}

static void paused_trials_end_with_their_results(struct fixture *f)
{
    submit(f, 3, PAUSING);
    pause_at(f, 1, "0.5");
    pause_at(f, 1, "0.7");
    pause_at(f, 1, "0.6");
    struct leased best = fixture_lease_one(f); /* the best of three */
    CHECK(best.name.trial == 2 && best.name.attempt == 2);
    CHECK(fixture_tell(f, "started", &best.name, "")->status == HT_OK);
    report(f, &best, 3, "0.8");
    CHECK(fixture_await_trials(f, 1, TRIAL_STOPPING, 1));
    end(f, &best, "stopped");
    best = fixture_lease_one(f); /* nobody else will come: it goes on alone */
    CHECK(best.name.trial == 2 && best.name.attempt == 3);
    CHECK(fixture_trial(f, 1, 2).rungs_passed == 2);
    CHECK(fixture_tell(f, "started", &best.name, "")->status == HT_OK);
    report(f, &best, 9, "0.9");
    end(f, &best, "succeeded");
    CHECK(fixture_await_study(f, 1, STUDY_SUCCEEDED));
    CHECK(is_in(f, 2, TRIAL_SUCCEEDED) && is_in(f, 1, TRIAL_STOPPED));
    const struct trial_row third = fixture_trial(f, 1, 3);
    CHECK(third.state == TRIAL_STOPPED && third.objective == 0.6);
    CHECK(third.final_step == 1 && third.ended_ms > 0);
    CHECK_TEXT(third.reason, "paused by the asha rule at step 1: value 0.6 < "
                             "needed 0.7 of 3 trials; predicted final 0.6 "
                             "\u00b1 0.1; all 3 trials have ended");
}

/* A resumed attempt has what the one before it reported. */
static void
a_promoted_trial_has_its_results_before_it_reports(struct fixture *f)
{
    submit(f, 3, PAUSING);
    pause_at(f, 1, "0.5");
    pause_at(f, 1, "0.7");
    pause_at(f, 1, "0.6");
    const struct leased best = fixture_lease_one(f);
    CHECK(fixture_call(f, study_stop, "1", NULL)->status == HT_OK);
    CHECK(is_in(f, 1, TRIAL_STOPPED) && is_in(f, 2, TRIAL_STOPPING));
    end(f, &best, "stopped");
    CHECK(fixture_await_study(f, 1, STUDY_STOPPED));
    const struct trial_row trial = fixture_trial(f, 1, 2);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.7);
}

static void one_that_waits_to_go_on_keeps_its_result(struct fixture *f)
{
    submit(f, 3, PAUSING);
    pause_at(f, 1, "0.5");
    pause_at(f, 1, "0.7");
    pause_at(f, 1, "0.6");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(fixture_call(f, study_stop, "1", NULL)->status == HT_OK);
    CHECK(fixture_await_study(f, 1, STUDY_STOPPED));
    const struct trial_row trial = fixture_trial(f, 1, 2);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.7);
}

static void a_cancelled_study_cancels_paused_trials(struct fixture *f)
{
    submit(f, 9, PAUSING);
    pause_at(f, 1, "0.5");
    CHECK(fixture_call(f, study_cancel, "1", NULL)->status == HT_OK);
    CHECK(fixture_await_study(f, 1, STUDY_CANCELLED));
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_CANCELLED && !trial.has_objective);
}

static struct request *stop_trial(struct fixture *f, const char *trial)
{
    return fixture_call_trial(f, trial_stop, "1", trial, NULL);
}

static void a_person_can_end_a_paused_trial(struct fixture *f)
{
    submit(f, 9, PAUSING);
    pause_at(f, 1, "0.5");
    const struct request *req = stop_trial(f, "1");
    CHECK(req->status == HT_OK);
    CHECK(strstr(req->reply.data, "\"STOPPED\"") != NULL);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.5);
    CHECK_TEXT(trial.reason,
               "paused by the asha rule at step 1; stopped by user");
    CHECK(stop_trial(f, "1")->status == HT_PRECONDITION);
}

static void a_trial_told_to_pause_can_be_told_to_stop(struct fixture *f)
{
    submit(f, 9, PAUSING);
    const struct leased leased = come_to(f, 1, "0.5");
    CHECK(stop_trial(f, "1")->status == HT_OK);
    end(f, &leased, "stopped");
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.5);
    CHECK_TEXT(trial.reason, "stopped by user");
}

/* Says something as another runner. */
static struct request *as_other(struct fixture *f, const char *type,
                                const char *members)
{
    const char *text =
        arena_printf(f->arena,
                     "{\"v\":1,\"type\":\"%s\",\"token\":\"" RUNNER_TOKEN
                     "\",\"runner\":\"r2\",\"boot\":\"b\",\"id\":%lld,%s}",
                     type, (long long)f->next_id++, members);
    struct request *req = fixture_request(f, control_handle, text);
    core_post(f->core, req);
    fixture_wait(f, req);
    CHECK(req->status == HT_OK);
    return req;
}

static size_t lease_as_other(struct fixture *f, struct leased *leased)
{
    return fixture_leased(as_other(f, "lease", "\"free\":1"), leased, 1);
}

/* Its checkpoint is in a folder of the runner that it paused at. */
static void a_trial_goes_on_where_its_checkpoint_is(struct fixture *f)
{
    fixture_stop(f);
    f->options.hold_ms = 1;
    fixture_start(f);
    submit(f, 3, PAUSING);
    as_other(f, "hello",
             "\"engine\":\"any\",\"host\":\"there\",\"slots\":1,"
             "\"version\":\"0.1.0\",\"attempts\":[],\"rules\":{}");
    static const char *const values[] = {"0.5", "0.7", "0.6"};
    for (size_t i = 0; i < 3; i++) { /* no poll is held here */
        CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
        pause_at(f, 1, values[i]);
    }
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    struct leased leased = {0};
    CHECK(lease_as_other(f, &leased) == 0);
    const struct leased best = fixture_lease_one(f);
    CHECK(best.name.trial == 2 && best.name.attempt == 2);
}

static void the_end_may_come_before_the_pause(struct fixture *f)
{
    submit(f, 9, PAUSING);
    const struct leased leased = come_to(f, 3, "0.5");
    report(f, &leased, 9, "0.9");
    end(f, &leased, "succeeded");
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_SUCCEEDED && trial.objective == 0.9);
}

/* A program that asks whether to stop may end well by itself. */
static void a_program_that_ends_well_at_a_rung_is_paused(struct fixture *f)
{
    submit(f, 9, PAUSING);
    const struct leased leased = come_to(f, 1, "0.5");
    end(f, &leased, "succeeded");
    CHECK(is_in(f, 1, TRIAL_PAUSED));
}

static void a_lost_machine_does_not_matter_to_a_pause(struct fixture *f)
{
    submit(f, 9, PAUSING);
    come_to(f, 1, "0.5");
    f->boot = "boot-2";
    fixture_hello(f, 1); /* without the attempt */
    CHECK(is_in(f, 1, TRIAL_PAUSED));
}

static void paused_trials_outlive_the_server(struct fixture *f)
{
    submit(f, 9, PAUSING);
    pause_at(f, 1, "0.7");
    pause_at(f, 1, "0.5");
    come_to(f, 1, "0.6");
    fixture_stop(f);
    fixture_start(f);
    CHECK(is_in(f, 1, TRIAL_PAUSED) && is_in(f, 2, TRIAL_PAUSED));
    f->boot = "boot-2";
    fixture_hello(f, 1); /* without the third, which was to pause */
    CHECK(is_in(f, 3, TRIAL_PAUSED));
    const struct leased best = fixture_lease_one(f);
    CHECK(best.name.trial == 1 && best.name.attempt == 2);
}

/* Begins anew: neither its rungs nor its records count any more. */
static void a_retried_trial_has_been_nowhere(struct fixture *f)
{
    submit(f, 1, PAUSING);
    pause_at(f, 1, "0.5");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1)); /* alone: goes on */
    CHECK(fixture_call(f, study_stop, "1", NULL)->status == HT_OK);
    CHECK(fixture_await_study(f, 1, STUDY_STOPPED));
    CHECK(fixture_call_trial(f, trial_retry, "1", "1", NULL)->status == HT_OK);
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_REQUESTED && trial.rungs_passed == 0);
    const struct leased leased = fixture_lease_one(f);
    CHECK(fixture_latest(f, 1, 1).metrics == NULL);
    CHECK(fixture_tell(f, "started", &leased.name, "")->status == HT_OK);
    end(f, &leased, "succeeded"); /* nothing was reported */
    CHECK(is_in(f, 1, TRIAL_INFEASIBLE));
}

static void without_pauses_the_worst_stop_for_good(struct fixture *f)
{
    submit(f, 9, "");
    for (int i = 0; i < 2; i++) { /* too few to compare */
        const struct leased leased = fixture_begin(f);
        report(f, &leased, 1, i == 0 ? "0.5" : "0.7");
        report(f, &leased, 9, "0.8");
        end(f, &leased, "succeeded");
    }
    pause_at(f, 1, "0.6");
    const struct trial_row trial = fixture_trial(f, 1, 3);
    CHECK(trial.state == TRIAL_STOPPED && trial.objective == 0.6);
    CHECK(strstr(trial.reason, "value 0.6 < needed 0.7 of 3 trials") != NULL);
}

/* Trial 3 is to pause at rung 0, says the judge. */
static enum ht_status accept_pause(struct core *core, struct request *req,
                                   struct ht_error *err)
{
    const struct stop_finding finding = {
        .study = 1,
        .trial = 3,
        .attempt = 1,
        .verdict = {.action = STOP_PAUSE, .at = 1, .rung = 0},
        .record = "",
        .reason = "late"};
    text_puts(&req->reply, "{}");
    return early_stop_receiver.store(core, &finding, err);
}

static void a_rung_that_was_passed_is_not_judged_again(struct fixture *f)
{
    submit(f, 9, PAUSING);
    pause_at(f, 1, "0.5");
    pause_at(f, 1, "0.6");
    const struct leased leased = fixture_begin(f);
    report(f, &leased, 1, "0.7");
    while (fixture_trial(f, 1, 3).rungs_passed == 0)
        fixture_nap();
    CHECK(fixture_call(f, accept_pause, NULL, NULL)->status == HT_OK);
    const struct trial_row trial = fixture_trial(f, 1, 3);
    CHECK(trial.state == TRIAL_ACTIVE && trial.rungs_passed == 1);
}

int main(void)
{
    RUN_ON_CORE(the_best_of_a_rung_goes_on_from_its_checkpoint);
    RUN_ON_CORE(paused_trials_end_with_their_results);
    RUN_ON_CORE(a_promoted_trial_has_its_results_before_it_reports);
    RUN_ON_CORE(one_that_waits_to_go_on_keeps_its_result);
    RUN_ON_CORE(a_cancelled_study_cancels_paused_trials);
    RUN_ON_CORE(a_person_can_end_a_paused_trial);
    RUN_ON_CORE(a_trial_told_to_pause_can_be_told_to_stop);
    RUN_ON_CORE(a_trial_goes_on_where_its_checkpoint_is);
    RUN_ON_CORE(the_end_may_come_before_the_pause);
    RUN_ON_CORE(a_program_that_ends_well_at_a_rung_is_paused);
    RUN_ON_CORE(a_lost_machine_does_not_matter_to_a_pause);
    RUN_ON_CORE(paused_trials_outlive_the_server);
    RUN_ON_CORE(a_retried_trial_has_been_nowhere);
    RUN_ON_CORE(without_pauses_the_worst_stop_for_good);
    RUN_ON_CORE(a_rung_that_was_passed_is_not_judged_again);
    return check_done();
}
