/* Runners that are online, and what is lost with one that is not. */
#include "tests/lib/core_fixture.h"

static const char one_at_a_time[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "algorithm: random\ntrials: 9\nparallel: 1\nseed: 1\n"
    "command: [./train]\n";

static struct runner_row first_runner(struct fixture *f)
{
    struct db *db = fixture_db(f);
    struct runner_list list = {0};
    CHECK(db_runner_list(db, f->arena, &list, NULL) == HT_OK);
    db_close(db);
    return list.n > 0 ? list.rows[0] : (struct runner_row){.id = ""};
}

static void
a_silent_runner_is_given_up_and_its_trials_continue(struct fixture *f)
{
    fixture_stop(f);
    f->options.lost_after_ms = 400;
    CHECK(fixture_start(f));
    fixture_submit(f, one_at_a_time);
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.losses == 1 && trial.failures == 0);
    CHECK_TEXT(trial.reason, "runner r1 was silent for 0 s; starts again");
    CHECK(fixture_await_reason(f, 1, "no runner is connected"));
    CHECK(fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.1"))
              ->status == HT_NOT_FOUND);
    struct request *beat = fixture_control(
        f, "heartbeat",
        "\"attempts\":[{\"study\":1,\"trial\":1,\"attempt\":1}]");
    const struct node *gone = node_find(fixture_reply(beat), "gone");
    CHECK(gone->count == 1 && node_get_int(gone->first, "attempt", 0) == 1);
    leased = fixture_lease_one(f);
    CHECK(leased.name.trial == 1 && leased.name.attempt == 2);
}

static void a_runner_lost_while_draining_loses_no_result(struct fixture *f)
{
    fixture_stop(f);
    f->options.lost_after_ms = 400;
    CHECK(fixture_start(f));
    fixture_submit(f, one_at_a_time);
    fixture_hello(f, 1);
    struct leased leased = fixture_begin(f);
    fixture_report(f, leased.token, fixture_record(f, 1, 1, "0.5"));
    fixture_tell(f, "ended", &leased.name, "\"outcome\":\"succeeded\"");
    CHECK(fixture_await_trials(f, 1, TRIAL_SUCCEEDED, 1));
    CHECK(fixture_trial(f, 1, 1).objective == 0.5);
}

static void a_runner_of_before_the_start_counts_as_just_seen(struct fixture *f)
{
    fixture_hello(f, 3);
    fixture_stop(f);
    CHECK(fixture_start(f));
    const struct runner_row row = first_runner(f);
    CHECK_TEXT(row.id, "r1");
    CHECK(row.online && row.slots == 3);
    /* It need not say hello again. */
    CHECK(fixture_control(f, "heartbeat", "\"attempts\":[]")->status == HT_OK);
}

static void a_lost_runner_that_sends_is_online_again(struct fixture *f)
{
    fixture_stop(f);
    f->options.lost_after_ms = 200;
    CHECK(fixture_start(f));
    fixture_hello(f, 1);
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    while (first_runner(f).online && clock_monotonic_ms() < end_ms)
        fixture_nap();
    CHECK(!first_runner(f).online);
    fixture_control(f, "heartbeat", "\"attempts\":[]");
    CHECK(first_runner(f).online);
}

int main(void)
{
    RUN_ON_CORE(a_silent_runner_is_given_up_and_its_trials_continue);
    RUN_ON_CORE(a_runner_lost_while_draining_loses_no_result);
    RUN_ON_CORE(a_runner_of_before_the_start_counts_as_just_seen);
    RUN_ON_CORE(a_lost_runner_that_sends_is_online_again);
    return check_done();
}
