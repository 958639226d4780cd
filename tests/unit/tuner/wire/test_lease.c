/* Whose trials a runner gets, how many, and what it is told to stop. */
#include "tests/lib/core_fixture.h"

/* Submits one of a grid of 100, so many at a time. */
static void submit(struct fixture *f, const char *name, int parallel)
{
    struct text yaml = {0};
    text_printf(&yaml,
                "spec: 1\nname: %s\ngoal: maximize accuracy\n"
                "parameters:\n  x: {type: integer, min: 1, max: 100}\n"
                "algorithm: grid\ntrials: 100\nretries: 1\nparallel: %d\n"
                "command: [./train]\n",
                name, parallel);
    CHECK(fixture_submit(f, yaml.data)->status == HT_OK);
    text_free(&yaml);
}

/* Polls are answered at once, also with nothing. */
static void hold_nothing(struct fixture *f)
{
    fixture_stop(f);
    f->options.hold_ms = 0;
    CHECK(fixture_start(f));
}

static size_t poll(struct fixture *f, int slots, struct leased out[],
                   size_t most)
{
    char members[32];
    snprintf(members, sizeof members, "\"free\":%d", slots);
    struct request *req = fixture_control(f, "lease", members);
    CHECK(req->status == HT_OK);
    return fixture_leased(req, out, most);
}

static void
studies_take_turns_and_the_one_with_the_fewest_is_first(struct fixture *f)
{
    static const int64_t want[] = {1, 2, 1, 2, 1, 2};
    struct leased leased[6];
    submit(f, "first", 3);
    submit(f, "second", 3);
    fixture_hello(f, 9);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 3));
    CHECK(fixture_await_trials(f, 2, TRIAL_REQUESTED, 3));
    CHECK(fixture_lease(f, 6, leased) == 6);
    for (size_t i = 0; i < 6; i++)
        CHECK(leased[i].name.study == want[i]);
    fixture_succeed(f, &leased[0], "0.5");
    const struct leased next = fixture_lease_one(f);
    CHECK(next.name.study == 1 && next.name.trial == 4);
}

static void the_lowest_trial_goes_first(struct fixture *f)
{
    struct leased leased[3];
    submit(f, "s", 3);
    fixture_hello(f, 3);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 3));
    CHECK(poll(f, 3, leased, 3) == 3);
    for (size_t i = 0; i < 3; i++)
        CHECK(leased[i].name.trial == (int64_t)i + 1 &&
              leased[i].name.attempt == 1);
}

static void a_runner_gets_no_more_than_it_has_free(struct fixture *f)
{
    struct leased leased[4];
    hold_nothing(f);
    submit(f, "s", 4);
    fixture_hello(f, 4);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 4));
    CHECK(poll(f, 0, leased, 4) == 0);
    CHECK(poll(f, 1, leased, 4) == 1);
    CHECK(poll(f, 2, leased, 4) == 2);
}

static void a_study_runs_no_more_than_it_allows(struct fixture *f)
{
    struct leased leased[9];
    hold_nothing(f);
    submit(f, "s", 2);
    fixture_hello(f, 9);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    CHECK(poll(f, 9, leased, 9) == 2);
    CHECK(poll(f, 9, leased, 9) == 0);
}

static void
one_answer_has_few_so_that_it_passes_a_broken_link(struct fixture *f)
{
    struct leased leased[80];
    hold_nothing(f);
    submit(f, "s", 80);
    fixture_hello(f, 80);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 80));
    size_t all = 0;
    for (size_t n = 1; n > 0; all += n) {
        n = poll(f, 80 - (int)all, leased, 80);
        CHECK(n < 8);
    }
    CHECK(all == 80);
}

static void every_attempt_has_a_token_of_its_own(struct fixture *f)
{
    struct leased leased[2];
    submit(f, "s", 2);
    fixture_hello(f, 2);
    CHECK(fixture_lease(f, 2, leased) == 2);
    CHECK(strlen(leased[0].token) >= 32);
    CHECK(strcmp(leased[0].token, leased[1].token) != 0);
    CHECK(fixture_tell(f, "started", &leased[0].name, "")->status == HT_OK);
    CHECK(fixture_report(f, "0123", fixture_record(f, 1, 1, "0.5"))->status !=
          HT_OK);
    CHECK(fixture_report(f, leased[0].token, fixture_record(f, 1, 1, "0.5"))
              ->status == HT_OK);
}

static void impossible_numbers_are_refused(struct fixture *f)
{
    static const char *const bad[] = {"\"free\":-1", "\"free\":1,\"gpus\":-1",
                                      "\"free\":1,\"gpus\":1025"};
    submit(f, "s", 1);
    fixture_hello(f, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(fixture_control(f, "lease", bad[i])->status == HT_INVALID);
    CHECK(fixture_lease_one(f).name.trial == 1);
}

/* One that was told to stop may still write; one that is cancelled is killed.
 */
static void a_stop_is_kinder_than_a_cancel(struct fixture *f)
{
    static request_handler *const commands[] = {study_stop, study_cancel};
    static const char *const names[] = {"stops", "cancels"};
    static const char *const hows[] = {"stop", "kill"};
    fixture_hello(f, 1);
    for (int64_t i = 0; i < 2; i++) {
        submit(f, names[i], 1);
        const struct leased leased = fixture_begin(f);
        CHECK(leased.name.study == i + 1);
        CHECK(fixture_call(f, commands[i], names[i], NULL)->status == HT_OK);
        struct request *poll = fixture_control(f, "lease", "\"free\":0");
        const struct node *stop = node_find(fixture_reply(poll), "stop");
        CHECK(stop->count == 1);
        CHECK(node_get_int(stop->first, "study", 0) == i + 1);
        CHECK_TEXT(node_get_string(stop->first, "how", ""), hows[i]);
        fixture_end(f, &leased, "\"outcome\":\"stopped\"");
    }
}

static void a_failed_trial_waits_before_it_is_given_out_again(struct fixture *f)
{
    struct leased leased;
    f->options.retry_ms = 60000; /* the longest; no test waits for it */
    hold_nothing(f);
    submit(f, "s", 1);
    fixture_hello(f, 1);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(poll(f, 1, &leased, 1) == 1);
    fixture_end_as(f, &leased, "\"outcome\":\"failed\",\"exit\":1");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(poll(f, 1, &leased, 1) == 0);
    fixture_stop(f); /* a new server tries at once */
    CHECK(fixture_start(f));
    CHECK(poll(f, 1, &leased, 1) == 1);
    CHECK(leased.name.trial == 1 && leased.name.attempt == 2);
}

int main(void)
{
    RUN_ON_CORE(studies_take_turns_and_the_one_with_the_fewest_is_first);
    RUN_ON_CORE(the_lowest_trial_goes_first);
    RUN_ON_CORE(a_runner_gets_no_more_than_it_has_free);
    RUN_ON_CORE(a_study_runs_no_more_than_it_allows);
    RUN_ON_CORE(one_answer_has_few_so_that_it_passes_a_broken_link);
    RUN_ON_CORE(every_attempt_has_a_token_of_its_own);
    RUN_ON_CORE(impossible_numbers_are_refused);
    RUN_ON_CORE(a_stop_is_kinder_than_a_cancel);
    RUN_ON_CORE(a_failed_trial_waits_before_it_is_given_out_again);
    return check_done();
}
