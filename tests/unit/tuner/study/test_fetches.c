/* Outputs that people on other machines fetch: what a runner is asked, and what
 * they are answered. */
#include "tests/lib/core_fixture.h"
#include "tuner/api/trial_fetch.h"
#include "tuner/db/trees.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void submit(struct fixture *f, const char *more)
{
    struct text spec = {0};
    text_printf(&spec,
                "spec: 1\nname: s\ngoal: maximize accuracy\n"
                "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                "algorithm: random\ntrials: 4\nparallel: 4\nretries: 0\n"
                "command: [./train]\n%s",
                more);
    CHECK(fixture_submit(f, spec.data)->status == HT_OK);
    text_free(&spec);
}

static void be(struct fixture *f, const char *runner)
{
    f->runner = runner;
    CHECK(fixture_hello_rules(f, 4, "\"outputs\":true")->status == HT_OK);
}

/* The store has the trees A and B. */
static void keep_trees(struct fixture *f)
{
    static const char *const names[] = {A, B};
    struct db *db;
    fixture_stop(f);
    CHECK(db_open(arena_printf(f->arena, "%s/hypertune.db", f->dir), &db,
                  NULL) == HT_OK);
    for (size_t i = 0; i < 2; i++) {
        const struct tree_row row = {
            .project = "local", .tree = names[i], .bytes = 1, .created_ms = 1};
        CHECK(db_tree_save(db, &row, NULL) == HT_OK);
    }
    db_close(db);
    CHECK(fixture_start(f));
}

static struct request *fetch(struct fixture *f, const char *trial,
                             const char *id)
{
    const char *body =
        *id != '\0' ? arena_printf(f->arena, "{\"fetch\":\"%s\"}", id) : "{}";
    return fixture_call_trial(f, trial_fetch, "s", trial, body);
}

static const char *member(struct request *req, const char *name)
{
    return req->status == HT_OK ? node_get_string(fixture_reply(req), name, "")
                                : req->err.text;
}

/* The ids in a list of an answer: "17 18 ". */
static const char *wanted(struct fixture *f, struct request *req)
{
    struct text out = {0};
    text_puts(&out, "");
    NODE_EACH (item, node_first(fixture_reply(req), "fetch"))
        text_printf(&out, "%lld ", (long long)node_get_int(item, "fetch", 0));
    return text_take(&out, f->arena);
}

static struct request *beat(struct fixture *f, const char *outputs)
{
    return fixture_control(
        f, "heartbeat",
        arena_printf(f->arena, "\"attempts\":[],\"outputs\":[%s]", outputs));
}

static const char *said(struct fixture *f, const char *id, const char *more)
{
    return arena_printf(f->arena, "{\"fetch\":%s,%s}", id, more);
}

static void a_runner_is_asked_and_its_tree_answered(struct fixture *f)
{
    keep_trees(f);
    submit(f, "");
    be(f, "a");
    const struct leased running = fixture_begin(f);
    CHECK(running.name.trial == 1);
    struct request *first = fetch(f, "1", "");
    const char *id = member(first, "fetch");
    CHECK_TEXT(member(first, "state"), "WAITING");
    CHECK_TEXT(member(first, "runner"), "a");
    CHECK_TEXT(member(first, "project"), "local");
    const char *list = arena_printf(f->arena, "%s ", id);
    CHECK_TEXT(wanted(f, fixture_control(f, "lease", "\"free\":0")), list);
    CHECK_TEXT(wanted(f, beat(f, "")), list); /* until it has come */
    CHECK_TEXT(wanted(f, beat(f, said(f, id, "\"bytes\":3,\"of\":9"))), list);
    struct request *second = fetch(f, "1", "");
    CHECK_TEXT(member(second, "fetch"), id);
    CHECK_TEXT(member(second, "state"), "SENDING");
    CHECK(node_get_int(fixture_reply(second), "of", 0) == 9);
    CHECK_TEXT(wanted(f, beat(f, said(f, id, "\"tree\":\"" A "\""))), "");
    CHECK_TEXT(member(fetch(f, "1", id), "tree"), A);
    CHECK_TEXT(member(fetch(f, "1", id), "state"), "READY");
    /* Meanwhile the trial may have written more. */
    struct request *third = fetch(f, "1", "");
    CHECK_TEXT(member(third, "state"), "WAITING");
    CHECK(strcmp(member(third, "fetch"), id) != 0);
}

static void after_the_end_of_a_trial_its_tree_is_shared(struct fixture *f)
{
    keep_trees(f);
    submit(f, "");
    be(f, "a");
    const struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    const char *id = member(fetch(f, "1", ""), "fetch");
    beat(f, said(f, id, "\"tree\":\"" B "\""));
    struct request *other = fetch(f, "1", "");
    CHECK_TEXT(member(other, "fetch"), id);
    CHECK_TEXT(member(other, "tree"), B);
}

static void what_prevents_it_is_said(struct fixture *f)
{
    keep_trees(f);
    submit(f, "");
    be(f, "a");
    const struct leased running = fixture_begin(f);
    (void)running;
    CHECK(fetch(f, "2", "")->status == HT_NOT_FOUND);
    CHECK(fetch(f, "99", "")->status == HT_NOT_FOUND);
    const char *id = member(fetch(f, "1", ""), "fetch");
    beat(f, said(f, id, "\"error\":\"logs/x changed\",\"gone\":false"));
    struct request *refused = fetch(f, "1", id);
    CHECK(refused->status == HT_PRECONDITION);
    CHECK_TEXT(refused->err.text, "runner a: logs/x changed");
    id = member(fetch(f, "1", ""), "fetch"); /* begins anew */
    beat(f, said(f, id, "\"error\":\"nothing is left\",\"gone\":true"));
    CHECK(fetch(f, "1", id)->status == HT_NOT_FOUND);
    id = member(fetch(f, "1", ""), "fetch");
    beat(f, said(f, id, "\"tree\":\"../x\""));
    CHECK(fetch(f, "1", id)->status == HT_PRECONDITION);
    id = member(fetch(f, "1", ""), "fetch");
    f->runner = "b"; /* it cannot answer for a */
    CHECK(fixture_hello_rules(f, 4, "\"outputs\":true")->status == HT_OK);
    CHECK_TEXT(wanted(f, beat(f, said(f, id, "\"tree\":\"" A "\""))), "");
    CHECK_TEXT(member(fetch(f, "1", id), "state"), "WAITING");
}

static void a_runner_that_is_away_or_old_is_named(struct fixture *f)
{
    f->options.lost_after_ms = 300;
    keep_trees(f);
    submit(f, "");
    fixture_hello(f, 4);
    const struct leased running = fixture_begin(f);
    (void)running;
    struct request *old = fetch(f, "1", "");
    CHECK(old->status == HT_PRECONDITION);
    CHECK(strstr(old->err.text, "of a release that cannot") != NULL);
    be(f, f->runner);
    CHECK_TEXT(member(fetch(f, "1", ""), "state"), "WAITING");
    const int64_t until = clock_monotonic_ms() + 20000;
    while (fetch(f, "1", "")->status == HT_OK && clock_monotonic_ms() < until)
        fixture_nap();
    struct request *away = fetch(f, "1", "");
    CHECK(away->status == HT_PRECONDITION);
    CHECK(strstr(away->err.text, "is away") != NULL);
    be(f, f->runner);
    CHECK_TEXT(member(fetch(f, "1", ""), "state"), "WAITING");
}

static void an_output_folder_of_the_user_is_named(struct fixture *f)
{
    submit(f, "outputDir: /shared\n");
    be(f, "a");
    const struct leased running = fixture_begin(f);
    (void)running;
    struct request *req = fetch(f, "1", "");
    CHECK(req->status == HT_PRECONDITION);
    CHECK(strstr(req->err.text, "in its outputDir, /shared") != NULL);
}

static void the_newest_checkpoint_is_offered(struct fixture *f)
{
    keep_trees(f);
    submit(f, "");
    be(f, "a");
    const struct leased running = fixture_begin(f);
    struct request *none =
        fixture_call_trial(f, trial_fetch, "s", "1", "{\"checkpoint\":true}");
    CHECK(none->status == HT_NOT_FOUND);
    fixture_tell(f, "checkpoint", &running.name,
                 "\"tree\":\"" A "\",\"step\":7");
    struct request *found =
        fixture_call_trial(f, trial_fetch, "s", "1", "{\"checkpoint\":true}");
    CHECK_TEXT(member(found, "tree"), A);
    CHECK_TEXT(member(found, "step"), "7");
}

int main(void)
{
    json_init();
    RUN_ON_CORE(a_runner_is_asked_and_its_tree_answered);
    RUN_ON_CORE(after_the_end_of_a_trial_its_tree_is_shared);
    RUN_ON_CORE(what_prevents_it_is_said);
    RUN_ON_CORE(a_runner_that_is_away_or_old_is_named);
    RUN_ON_CORE(an_output_folder_of_the_user_is_named);
    RUN_ON_CORE(the_newest_checkpoint_is_offered);
    return check_done();
}
