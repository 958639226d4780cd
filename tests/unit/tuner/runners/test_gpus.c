/* Leases of attempts that need GPUs. */
#include "tests/lib/core_fixture.h"

static void submit(struct fixture *f, const char *name, int trials, int gpus)
{
    struct text spec = {0};
    text_printf(&spec,
                "spec: 1\nname: %s\ngoal: maximize accuracy\n"
                "parameters: {lr: [1, 2, 3, 4]}\nalgorithm: grid\n"
                "trials: %d\nparallel: %d\ncommand: [train]\n"
                "resources: {gpus: %d}\n",
                name, trials, trials, gpus);
    CHECK(fixture_submit(f, spec.data)->status == HT_OK);
    text_free(&spec);
}

/* A poll that may be held. */
static struct request *poll_for(struct fixture *f, int slots, int gpus)
{
    char members[64];
    snprintf(members, sizeof members, "\"free\":%d,\"gpus\":%d", slots, gpus);
    return fixture_post_control(f, "lease", f->next_id++, members);
}

/* Waits for the poll's answer, which gives one attempt. */
static struct leased take_one(struct fixture *f, struct request *poll)
{
    struct leased leased[2] = {0};
    fixture_wait(f, poll);
    CHECK(poll->status == HT_OK && fixture_leased(poll, leased, 2) == 1);
    return leased[0];
}

static void end(struct fixture *f, const struct leased *leased)
{
    fixture_tell(f, "started", &leased->name, "");
    fixture_tell(f, "ended", &leased->name, "\"outcome\":\"succeeded\"");
}

static void an_attempt_goes_only_where_its_gpus_are(struct fixture *f)
{
    fixture_hello(f, 2);
    submit(f, "greedy", 1, 2);
    submit(f, "modest", 1, 0);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(fixture_await_trials(f, 2, TRIAL_REQUESTED, 1));
    CHECK(take_one(f, poll_for(f, 2, 1)).name.study == 2);
    fixture_await_reason(
        f, 1, "1 of 1 wait: each needs 2 GPUs, no runner has more than 1");
    /* The runner comes back with another card. */
    CHECK(take_one(f, poll_for(f, 1, 2)).name.study == 1);
}

static void a_held_poll_is_answered_when_gpus_are_given_back(struct fixture *f)
{
    fixture_hello(f, 2);
    submit(f, "two", 2, 1);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    const struct leased first = take_one(f, poll_for(f, 2, 1));
    CHECK(first.name.trial == 1);
    struct request *poll = poll_for(f, 1, 1);
    fixture_await_reason(f, 1, "1 of 2 wait: 2 slots, 1 GPU");
    CHECK(!fixture_is_done(poll));
    end(f, &first); /* not drained yet: its records need no GPU */
    CHECK(take_one(f, poll).name.trial == 2);
}

static void who_waits_for_gpus_keeps_them_from_later_ones(struct fixture *f)
{
    fixture_hello(f, 3);
    submit(f, "small", 3, 1);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 3));
    const struct leased first = take_one(f, poll_for(f, 1, 2));
    CHECK(first.name.study == 1);
    submit(f, "large", 1, 2);
    CHECK(fixture_await_trials(f, 2, TRIAL_REQUESTED, 1));
    struct request *poll = poll_for(f, 2, 2);
    /* Any other request shows that the poll has been looked at. */
    fixture_tell(f, "started", &first.name, "");
    CHECK(!fixture_is_done(poll));
    end(f, &first);
    CHECK(take_one(f, poll).name.study == 2);
}

static void a_runner_with_impossible_gpus_is_refused(struct fixture *f)
{
    fixture_hello(f, 1);
    CHECK(fixture_control(f, "lease", "\"free\":1,\"gpus\":-1")->status ==
          HT_INVALID);
}

int main(void)
{
    RUN_ON_CORE(an_attempt_goes_only_where_its_gpus_are);
    RUN_ON_CORE(a_held_poll_is_answered_when_gpus_are_given_back);
    RUN_ON_CORE(who_waits_for_gpus_keeps_them_from_later_ones);
    RUN_ON_CORE(a_runner_with_impossible_gpus_is_refused);
    return check_done();
}
