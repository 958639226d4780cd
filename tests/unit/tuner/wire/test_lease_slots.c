/* Slots that a runner makes on demand: which get a trial, how many are wanted,
 * and how many trials are made for them. */
#include "tests/lib/core_fixture.h"

/* A grid of 100 points, so many at a time; polls are answered at once. The
 * runner is there first: else trials would be made for any. */
static void begin(struct fixture *f, int parallel, int trials)
{
    struct text yaml = {0};
    fixture_stop(f);
    f->options.hold_ms = 0;
    CHECK(fixture_start(f));
    fixture_hello_rules(f, 8, "\"images\":false,\"elastic\":true");
    text_printf(&yaml,
                "spec: 1\nname: s\ngoal: maximize accuracy\n"
                "parameters:\n  x: {type: integer, min: 1, max: 100}\n"
                "algorithm: grid\ntrials: %d\nparallel: %d\n"
                "command: [./train]\n",
                trials, parallel);
    CHECK(fixture_submit(f, yaml.data)->status == HT_OK);
    text_free(&yaml);
}

static struct request *ask(struct fixture *f, int n)
{
    char members[80];
    snprintf(members, sizeof members,
             "\"free\":0,\"asking\":[{\"study\":1,\"n\":%d}]", n);
    struct request *req = fixture_control(f, "lease", members);
    CHECK(req->status == HT_OK);
    return req;
}

static int64_t wanted(struct request *req)
{
    const struct node *list = node_find(fixture_reply(req), "wanted");
    return list == NULL || list->first == NULL
               ? 0
               : node_get_int(list->first, "slots", 0);
}

static void no_trial_is_made_before_a_slot_asks(struct fixture *f)
{
    struct leased leased[2];
    begin(f, 3, 100);
    CHECK(wanted(ask(f, 0)) == 3);
    CHECK(fixture_trial(f, 1, 1).id == 0);
    (void)ask(f, 1);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    struct request *req = ask(f, 1);
    CHECK(fixture_leased(req, leased, 2) == 1 && wanted(req) == 3);
}

static void more_slots_than_trials_get_nothing(struct fixture *f)
{
    struct leased leased[5];
    begin(f, 4, 2);
    CHECK(wanted(ask(f, 5)) == 2);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    CHECK(fixture_leased(ask(f, 5), leased, 5) == 2);
    CHECK(fixture_leased(ask(f, 3), leased, 5) == 0);
    CHECK(fixture_trial(f, 1, 3).id == 0);
}

static void a_paused_study_gives_nothing(struct fixture *f)
{
    struct leased leased[2];
    begin(f, 2, 100);
    (void)ask(f, 1);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(fixture_call(f, study_pause, "s", NULL)->status == HT_OK);
    struct request *req = ask(f, 1);
    CHECK(fixture_leased(req, leased, 2) == 0 && wanted(req) == 0);
}

static void wrong_numbers_are_refused(struct fixture *f)
{
    begin(f, 2, 100);
    CHECK(fixture_control(f, "lease", "\"asking\":[{\"study\":1,\"n\":-1}]")
              ->status == HT_INVALID);
    CHECK(fixture_control(f, "lease", "\"asking\":[{\"study\":1,\"n\":10001}]")
              ->status == HT_INVALID);
    CHECK(wanted(ask(f, 0)) == 2);
}

int main(void)
{
    RUN_ON_CORE(no_trial_is_made_before_a_slot_asks);
    RUN_ON_CORE(more_slots_than_trials_get_nothing);
    RUN_ON_CORE(a_paused_study_gives_nothing);
    RUN_ON_CORE(wrong_numbers_are_refused);
    return check_done();
}
