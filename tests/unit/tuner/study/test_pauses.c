/* Attempts that could not begin, those that get lost, and what they ran on. */
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
    CHECK_TEXT(attempt_of(f).facts, "");
    CHECK(fixture_tell(f, "started", &leased.name, "\"facts\":{\"host\":\"h\"}")
              ->status == HT_OK);
    CHECK_TEXT(attempt_of(f).facts, "{\"host\":\"h\"}");
    CHECK(fixture_tell(f, "started", &leased.name,
                       "\"facts\":{\"host\":\"h\",\"gpus\":[\"0\"]}")
              ->status == HT_OK);
    CHECK_TEXT(attempt_of(f).facts, "{\"host\":\"h\",\"gpus\":[\"0\"]}");
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
    RUN_ON_CORE(lost_attempts_wait_longer_each_time);
    RUN_ON_CORE(facts_are_kept_with_the_attempt);
    return check_done();
}
