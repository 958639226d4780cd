/* Trials for slots that are made on demand: what a poll leaves in memory, and
 * which points are too old for a slot that asks. */
#include "tests/lib/core_fixture.h"
#include "tuner/api/fleet.h"
#include "tuner/core/live.h"
#include "tuner/study/elastic.h"

enum { ELSEWHERE = 9 }; /* a study */

/* The runner is there first: else trials would be made for any. */
static void begin(struct fixture *f, int parallel)
{
    char yaml[256];
    fixture_stop(f);
    f->options.hold_ms = 0;
    CHECK(fixture_start(f));
    fixture_hello_rules(f, 8, "\"images\":false,\"elastic\":true");
    snprintf(yaml, sizeof yaml,
             "spec: 1\nname: s\ngoal: maximize accuracy\n"
             "parameters:\n  x: {type: integer, min: 1, max: 100}\n"
             "algorithm: grid\ntrials: 100\nparallel: %d\n"
             "command: [./train]\n",
             parallel);
    CHECK(fixture_submit(f, yaml)->status == HT_OK);
}

static size_t ask(struct fixture *f, int n, struct leased *leased)
{
    char members[80];
    snprintf(members, sizeof members,
             "\"free\":0,\"asking\":[{\"study\":1,\"n\":%d}]", n);
    struct request *req = fixture_control(f, "lease", members);
    CHECK(req->status == HT_OK);
    return fixture_leased(req, leased, 1);
}

/* Asks with one slot until it has got a trial. */
static struct leased take(struct fixture *f)
{
    struct leased leased = {0};
    const int64_t end = clock_monotonic_ms() + 60000;
    while (ask(f, 1, &leased) == 0 && clock_monotonic_ms() < end)
        fixture_nap();
    CHECK(leased.name.trial > 0);
    return leased;
}

static void a_quota_limits_what_is_made(struct fixture *f)
{
    struct leased leased;
    begin(f, 4);
    CHECK(fixture_call(f, project_set, NULL, "{\"slots\":2}")->status == HT_OK);
    (void)ask(f, 4, &leased);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    (void)ask(f, 4, &leased); /* gets one of them */
    (void)ask(f, 4, &leased);
    CHECK(fixture_trial(f, 1, 3).id == 0);
}

static void a_point_from_before_a_result_is_withdrawn(struct fixture *f)
{
    struct leased leased;
    begin(f, 2);
    (void)ask(f, 2, &leased);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 2));
    const struct leased first = take(f);
    CHECK(first.name.trial == 1);
    fixture_succeed(f, &first, "0.5");
    CHECK(take(f).name.trial == 3);
    CHECK(fixture_study(f, 1).withdrawn == 1);
    CHECK(fixture_trial(f, 1, 2).id == 0);
}

/* --- memory --- */

static enum ht_status note(struct core *core, struct live_runner *runner,
                           int64_t n, const char *refused)
{
    struct live_ask asked = {.study = ELSEWHERE, .n = n};
    struct live_refusal refusal = {ELSEWHERE, refused};
    const struct elastic_poll poll = {1, &asked, refused != NULL, &refusal};
    elastic_note(core, runner, &poll);
    return HT_OK;
}

static struct live_runner *runner_of(struct core *core)
{
    return live_runner(core_live(core), "other", "name");
}

/* `owed` of the study in memory; -1: it does not ask. */
static int64_t owed_by(struct core *core, int64_t *n)
{
    int64_t owed = -1;
    *n = elastic_asking(runner_of(core), ELSEWHERE, &owed);
    return *n > 0 ? owed : -1;
}

static enum ht_status note_more_and_less(struct core *core, struct request *req,
                                         struct ht_error *err)
{
    int64_t n;
    (void)err;
    struct live_runner *runner = runner_of(core);
    struct live_study *study = live_study(core_live(core), ELSEWHERE);
    study->news = 5;
    (void)note(core, runner, 2, NULL);
    study->news = 8;
    (void)note(core, runner, 3, NULL);
    CHECK(owed_by(core, &n) == 5 && n == 3);
    (void)note(core, runner, 1, NULL); /* the first ones have got theirs */
    CHECK(owed_by(core, &n) == 8 && n == 1);
    elastic_note_given(core, runner, ELSEWHERE);
    CHECK(owed_by(core, &n) == -1 && n == 0);
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void slots_owe_what_was_known_when_they_asked(struct fixture *f)
{
    CHECK(fixture_call(f, note_more_and_less, NULL, NULL)->status == HT_OK);
}

static enum ht_status note_and_break(struct core *core, struct request *req,
                                     struct ht_error *err)
{
    (void)err;
    (void)note(core, runner_of(core), 3, "no such partition");
    CHECK(runner_of(core)->n_asks == 1 && runner_of(core)->n_refusals == 1);
    db_rollback(core_db(core)); /* as SQLite does after a grave error */
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static enum ht_status look(struct core *core, struct request *req,
                           struct ht_error *err)
{
    int64_t n;
    (void)err;
    const struct live_runner *runner = runner_of(core);
    CHECK(owed_by(core, &n) == -1);
    CHECK_TEXT(elastic_refusal(runner->n_refusals, runner->refusals, ELSEWHERE),
               "");
    text_puts(&req->reply, "{}");
    return HT_OK;
}

static void a_rollback_takes_what_was_noted_along(struct fixture *f)
{
    CHECK(fixture_call(f, note_and_break, NULL, NULL)->status ==
          HT_UNAVAILABLE);
    CHECK(fixture_call(f, look, NULL, NULL)->status == HT_OK);
}

int main(void)
{
    RUN_ON_CORE(a_quota_limits_what_is_made);
    RUN_ON_CORE(a_point_from_before_a_result_is_withdrawn);
    RUN_ON_CORE(slots_owe_what_was_known_when_they_asked);
    RUN_ON_CORE(a_rollback_takes_what_was_noted_along);
    return check_done();
}
