/* The rules that end a study, and their vetoes: alone, on the core thread with
 * made-up facts and time as the test says. */
#include "tuner/study/end_rules.h"

#include "tests/lib/core_fixture.h"
#include "tuner/core/live.h"

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
    return check_done();
}
