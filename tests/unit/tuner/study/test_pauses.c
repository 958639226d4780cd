/* Attempts that could not begin, that crash alike, attempts that get lost, and
 * what they ran on. */
#include <string.h>

#include "tests/lib/core_fixture.h"

#define SPEC(more)                                                             \
    "spec: 1\nname: s\ngoal: maximize accuracy\n"                              \
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"                      \
    "algorithm: random\ntrials: 9\nparallel: 1\nseed: 1\nretries: 0\n"         \
    "command: [./train]\n" more

static const char impossible[] =
    "\"outcome\":\"failed\",\"impossible\":true,\"reason\":\"no image x\"";
static const char paused[] =
    "paused, as the last 3 attempts could not begin: no image x";

static void ends_unstarted(struct fixture *f, const char *outcome)
{
    struct leased leased = fixture_lease_one(f);
    fixture_end(f, &leased, outcome);
}

static void a_study_pauses_when_nothing_can_begin(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    for (int i = 0; i < 3; i++) {
        CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
        ends_unstarted(f, impossible);
    }
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
    CHECK(fixture_await_reason(f, 1, paused));
    /* It stays so over whatever looks at it, a restart too. */
    fixture_stop(f);
    CHECK(fixture_start(f));
    fixture_control(f, "heartbeat", "\"attempts\":[]");
    CHECK_TEXT(fixture_study(f, 1).reason, paused);
    CHECK(fixture_call(f, study_resume, "s", NULL)->status == HT_OK);
    CHECK(fixture_study(f, 1).refusals == 0);
    ends_unstarted(f, impossible);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
}

static void one_that_begins_takes_the_count_back(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    ends_unstarted(f, impossible);
    ends_unstarted(f, impossible);
    struct leased leased = fixture_lease_one(f);
    fixture_end_as(f, &leased, "\"outcome\":\"failed\",\"exit\":1");
    ends_unstarted(f, impossible);
    ends_unstarted(f, impossible);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    CHECK(fixture_study(f, 1).refusals == 2);
}

static void failing_by_itself_is_no_refusal(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    for (int i = 0; i < 4; i++)
        ends_unstarted(f, "\"outcome\":\"failed\",\"exit\":1");
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    CHECK(fixture_study(f, 1).refusals == 0);
}

/* ---- attempts that crash ---- */

#define CRASH(code, line)                                                      \
    "\"outcome\":\"failed\",\"exit\":" code ",\"reason\":\"exit " code         \
    ": " line "\""
static const char no_torch[] = CRASH("1", "No module named 'torch' (at 0x7f1)");

/* A paused study, which the cases check for, leases none. */
static void crash(struct fixture *f, const char *outcome)
{
    if (fixture_study(f, 1).state != STUDY_RUNNING)
        return;
    struct leased leased = fixture_lease_one(f);
    fixture_end_as(f, &leased, outcome);
}

static void three_crashes_alike_pause(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    crash(f, CRASH("1", "No module named 'torch' (at 0x12ab)"));
    crash(f, CRASH("1", "No module named 'torch' (at 0x7)"));
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    crash(f, no_torch);
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
    CHECK(fixture_await_reason(
        f, 1,
        "paused, as 3 attempts in a row failed alike: exit 1: No module named "
        "'torch' (at 0x7f1)"));
}

/* The database remembers, over a restart too. */
static void who_repaired_sees_the_same_crash_once(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    for (int i = 0; i < 3; i++)
        crash(f, no_torch);
    CHECK(fixture_call(f, study_resume, "s", "{\"repaired\":7}")->status ==
          HT_INVALID);
    CHECK(fixture_call(f, study_resume, "s", "{\"repaired\":true}")->status ==
          HT_OK);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    fixture_stop(f);
    CHECK(fixture_start(f));
    fixture_hello(f, 1);
    crash(f, no_torch);
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
    CHECK(fixture_call(f, study_resume, "s", "{\"repaired\":true}")->status ==
          HT_OK);
    for (int i = 0; i < 2; i++)
        crash(f, CRASH("1", "No module named 'numpy'"));
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    crash(f, CRASH("1", "No module named 'numpy'"));
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
}

static void who_only_resumed_is_never_asked_again(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    for (int i = 0; i < 3; i++)
        crash(f, no_torch);
    CHECK(fixture_call(f, study_resume, "s", NULL)->status == HT_OK);
    for (int i = 0; i < 4; i++)
        crash(f, no_torch);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
}

static void other_failures_are_not_alike(struct fixture *f)
{
    static const char *const all[] = {CRASH("1", "no torch"),
                                      CRASH("1", "no torch"),
                                      CRASH("1", "no numpy"),
                                      CRASH("1", "no torch"),
                                      CRASH("2", "no torch"),
                                      CRASH("1", "no torch"),
                                      "\"outcome\":\"failed\",\"exit\":1"};
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        crash(f, all[i]);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    CHECK(fixture_study(f, 1).crashes == 0);
}

static void want_of_memory_may_be_for_the_parameters(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    for (int i = 0; i < 3; i++)
        crash(f, CRASH("1", "MemoryError: CUDA out of memory"));
    for (int i = 0; i < 3; i++)
        crash(f, "\"outcome\":\"failed\",\"exit\":1,\"reason\":\"exit 1\"");
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
}

/* Retries are attempts: the third start of all pauses, when it is not of the
 * same trial. */
static void one_trial_alone_does_not_pause(struct fixture *f)
{
    fixture_submit(
        f, "spec: 1\nname: s\ngoal: maximize accuracy\n"
           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
           "algorithm: random\ntrials: 9\nparallel: 1\nseed: 1\nretries: 2\n"
           "command: [./train]\n");
    fixture_hello(f, 1);
    for (int i = 0; i < 3; i++)
        crash(f, no_torch);
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_FAILED);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    crash(f, no_torch);
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
    CHECK(fixture_trial(f, 1, 2).attempt == 1);
}

static void a_result_proves_that_it_works(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    const struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    for (int i = 0; i < 4; i++)
        crash(f, no_torch);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
}

static void a_study_that_only_warns_crashes_on(struct fixture *f)
{
    fixture_submit(f, SPEC("metricDoctor: warn\n"));
    fixture_hello(f, 1);
    for (int i = 0; i < 4; i++)
        crash(f, no_torch);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
}

static void lost_attempts_wait_longer_each_time(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    static const char lost[] = "\"outcome\":\"lost\",\"reason\":\"no network\"";
    ends_unstarted(f, lost);
    CHECK_TEXT(fixture_trial(f, 1, 1).reason, "no network; starts again");
    const int64_t before_ms = clock_monotonic_ms();
    ends_unstarted(f, lost);
    CHECK_TEXT(fixture_trial(f, 1, 1).reason,
               "no network; starts again after 1s");
    ends_unstarted(f, lost);
    CHECK(clock_monotonic_ms() - before_ms >= 1000);
    CHECK_TEXT(fixture_trial(f, 1, 1).reason,
               "no network; starts again after 2s");
    CHECK(fixture_trial(f, 1, 1).losses == 3);
}

static struct attempt_row attempt_of(struct fixture *f)
{
    struct attempt_list list = {0};
    struct db *db = fixture_db(f);
    CHECK(db_attempt_list(db, f->arena, 1, 1, &list, NULL) == HT_OK);
    db_close(db);
    CHECK(list.n == 1);
    return list.rows[0];
}

static void facts_are_kept_with_the_attempt(struct fixture *f)
{
    fixture_submit(f, SPEC(""));
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    CHECK(strncmp(attempt_of(f).facts, "{\"spec\":\"", 9) == 0);
    CHECK(fixture_tell(f, "started", &leased.name, "\"facts\":{\"host\":\"h\"}")
              ->status == HT_OK);
    CHECK(strncmp(attempt_of(f).facts, "{\"host\":\"h\",\"spec\":", 19) == 0);
    CHECK(fixture_tell(f, "started", &leased.name,
                       "\"facts\":{\"host\":\"h\",\"gpus\":[\"0\"]}")
              ->status == HT_OK);
    CHECK(strncmp(attempt_of(f).facts,
                  "{\"host\":\"h\",\"gpus\":[\"0\"],\"spec\":", 30) == 0);
    CHECK(fixture_tell(f, "started", &leased.name, "")->status == HT_OK);
    CHECK(attempt_of(f).facts[0] == '{');
    CHECK(fixture_tell(f, "started", &leased.name, "\"facts\":[1]")->status ==
          HT_INVALID);
    CHECK(fixture_tell(f, "ended", &leased.name,
                       "\"outcome\":\"succeeded\",\"exit\":0")
              ->status == HT_OK);
    CHECK(attempt_of(f).facts[0] == '{');
}

int main(void)
{
    RUN_ON_CORE(a_study_pauses_when_nothing_can_begin);
    RUN_ON_CORE(one_that_begins_takes_the_count_back);
    RUN_ON_CORE(failing_by_itself_is_no_refusal);
    RUN_ON_CORE(three_crashes_alike_pause);
    RUN_ON_CORE(who_repaired_sees_the_same_crash_once);
    RUN_ON_CORE(who_only_resumed_is_never_asked_again);
    RUN_ON_CORE(other_failures_are_not_alike);
    RUN_ON_CORE(want_of_memory_may_be_for_the_parameters);
    RUN_ON_CORE(a_result_proves_that_it_works);
    RUN_ON_CORE(a_study_that_only_warns_crashes_on);
    RUN_ON_CORE(one_trial_alone_does_not_pause);
    RUN_ON_CORE(lost_attempts_wait_longer_each_time);
    RUN_ON_CORE(facts_are_kept_with_the_attempt);
    return check_done();
}
