/* Where attempts continue: checkpoints that travel, and losses without one. */
#include "proto/base/limits.h"
#include "tests/lib/core_fixture.h"
#include "tuner/db/internal.h"
#include "tuner/db/trees.h"
#include "tuner/db/trial_checkpoints.h"

static void submit(struct fixture *f, int trials, const char *more)
{
    struct text spec = {0};
    text_printf(&spec,
                "spec: 1\nname: s\ngoal: maximize accuracy\n"
                "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                "algorithm: random\ntrials: %d\nparallel: %d\n"
                "command: [./train]\n%s",
                trials, trials, more);
    CHECK(fixture_submit(f, spec.data)->status == HT_OK);
    text_free(&spec);
}

/* A tree's name, from a digit. */
static const char *tree(struct fixture *f, char digit)
{
    char *name = arena_alloc(f->arena, 65, 1);
    memset(name, digit, 64);
    return name;
}

/* Retries come at once, and the store has the trees of all digits. */
static void prepare(struct fixture *f)
{
    static const char digits[] = "0123456789abcdef";
    struct db *db;
    fixture_stop(f);
    CHECK(db_open(arena_printf(f->arena, "%s/hypertune.db", f->dir), &db,
                  NULL) == HT_OK);
    for (size_t i = 0; i < sizeof digits - 1; i++) {
        const struct tree_row row = {.project = "local",
                                     .tree = tree(f, digits[i]),
                                     .bytes = 1,
                                     .files = 1,
                                     .created_ms = 1};
        CHECK(db_tree_save(db, &row, NULL) == HT_OK);
    }
    db_close(db);
    f->options.retry_ms = 1;
    CHECK(fixture_start(f));
}

static void be(struct fixture *f, const char *runner)
{
    f->runner = runner;
    fixture_hello(f, 4);
}

static struct request *save(struct fixture *f, const struct leased *leased,
                            const char *name, int64_t step)
{
    return fixture_tell(f, "checkpoint", &leased->name,
                        arena_printf(f->arena, "\"tree\":\"%s\",\"step\":%lld",
                                     name, (long long)step));
}

static struct trial_checkpoint_list kept(struct fixture *f)
{
    struct trial_checkpoint_list list = {0};
    struct db *db = fixture_db(f);
    CHECK(db_trial_checkpoints(db, f->arena, 1, 1, &list, NULL) == HT_OK);
    db_close(db);
    return list;
}

static const char *resumes(const struct leased *leased)
{
    return node_get_string(node_find(leased->node, "resume"), "tree", "");
}

static void lose(struct fixture *f, const struct leased *leased)
{
    fixture_end(f, leased, "\"outcome\":\"lost\",\"reason\":\"shim died\"");
}

static void a_lost_trial_continues_at_another_runner(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased first = fixture_begin(f);
    CHECK_TEXT(resumes(&first), "");
    CHECK(save(f, &first, tree(f, '1'), 10)->status == HT_OK);
    CHECK(save(f, &first, tree(f, '2'), 20)->status == HT_OK);
    lose(f, &first);
    be(f, "b");
    const struct leased second = fixture_begin(f);
    CHECK_TEXT(resumes(&second), tree(f, '2'));
    const struct node *resume = node_find(second.node, "resume");
    CHECK(node_get_int(resume, "attempt", 0) == 1);
    CHECK(node_get_int(resume, "step", 0) == 20);
    lose(f, &second);
    /* What b wrote is newer than what the store has. */
    const struct leased third = fixture_begin(f);
    CHECK_TEXT(resumes(&third), "");
    lose(f, &third);
    be(f, "a");
    const struct leased fourth = fixture_lease_one(f);
    CHECK_TEXT(resumes(&fourth), tree(f, '2'));
}

static void an_attempt_that_never_began_has_no_files(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased first = fixture_begin(f);
    CHECK(save(f, &first, tree(f, '1'), 10)->status == HT_OK);
    lose(f, &first);
    be(f, "b");
    const struct leased second = fixture_lease_one(f);
    lose(f, &second);
    const struct leased third = fixture_lease_one(f);
    CHECK_TEXT(resumes(&third), tree(f, '1'));
    lose(f, &third);
    be(f, "a");
    const struct leased fourth = fixture_lease_one(f);
    CHECK_TEXT(resumes(&fourth), "");
}

/* Its chunks may be gone: then an older one, at last none. */
static void one_that_cannot_be_had_is_passed_over(struct fixture *f)
{
    static const char *const want[] = {"2", "2", "1", "1", ""};
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased first = fixture_begin(f);
    CHECK(save(f, &first, tree(f, '1'), 10)->status == HT_OK);
    CHECK(save(f, &first, tree(f, '2'), 20)->status == HT_OK);
    lose(f, &first);
    be(f, "b");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct leased next = fixture_lease_one(f);
        CHECK_TEXT(resumes(&next), *want[i] == '\0' ? "" : tree(f, *want[i]));
        lose(f, &next);
    }
}

static void a_shared_folder_needs_no_copy(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "outputDir: /shared\n");
    be(f, "a");
    const struct leased first = fixture_begin(f);
    CHECK(save(f, &first, tree(f, '1'), 10)->status == HT_OK);
    lose(f, &first);
    be(f, "b");
    const struct leased second = fixture_lease_one(f);
    CHECK_TEXT(resumes(&second), "");
}

static void the_newest_two_are_kept(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased leased = fixture_begin(f);
    for (char digit = '1'; digit <= '4'; digit++)
        CHECK(save(f, &leased, tree(f, digit), digit - '0')->status == HT_OK);
    CHECK(kept(f).n == 2);
    CHECK_TEXT(kept(f).rows[0].tree, tree(f, '4'));
    CHECK_TEXT(kept(f).rows[1].tree, tree(f, '3'));
    CHECK(save(f, &leased, tree(f, '4'), -1)->status == HT_OK);
    CHECK(kept(f).n == 2 && kept(f).rows[0].step == 4);
    CHECK(save(f, &leased, tree(f, '4'), 9)->status == HT_OK);
    CHECK(kept(f).n == 2 && kept(f).rows[0].step == 9);
    CHECK(fixture_report(f, leased.token, fixture_record(f, 1, 9, "0.5"))
              ->status == HT_OK);
    fixture_end(f, &leased, "\"outcome\":\"succeeded\"");
    CHECK(kept(f).n == 1);
    CHECK_TEXT(kept(f).rows[0].tree, tree(f, '4'));
}

static void outputs_that_are_not_kept_have_no_checkpoint(struct fixture *f)
{
    prepare(f);
    submit(f, 2, "keep: {best: 1}\n");
    be(f, "a");
    struct leased leased[2];
    CHECK(fixture_lease(f, 2, leased) == 2);
    for (int i = 0; i < 2; i++) {
        fixture_tell(f, "started", &leased[i].name, "");
        CHECK(save(f, &leased[i], tree(f, '1'), 1)->status == HT_OK);
        CHECK(fixture_report(f, leased[i].token,
                             fixture_record(f, 1, 1, i == 0 ? "0.5" : "0.9"))
                  ->status == HT_OK);
        fixture_end(f, &leased[i], "\"outcome\":\"succeeded\"");
        CHECK(kept(f).n == (i == 0));
    }
}

/* How many trees of checkpoints the store has to keep. */
static int64_t uses(struct fixture *f)
{
    struct db *db = fixture_db(f);
    int64_t n = -1;
    CHECK(db_ask_integer(db, &n, NULL, "SELECT count(*) FROM tree_uses", "") ==
          HT_OK);
    db_close(db);
    return n;
}

static void the_store_keeps_what_is_named(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased leased = fixture_begin(f);
    for (const char *digit = "12323"; *digit != '\0'; digit++) {
        CHECK(save(f, &leased, tree(f, *digit), 7)->status == HT_OK);
        CHECK(uses(f) == (*digit == '1' ? 1 : 2));
    }
    char *unknown = arena_strdup(f->arena, tree(f, '1'));
    unknown[63] = '2';
    struct request *req = save(f, &leased, unknown, 8);
    CHECK(req->status == HT_INVALID);
    CHECK(kept(f).n == 2 && uses(f) == 2);
    CHECK(fixture_call_trial(f, trial_stop, "s", "1", NULL)->status == HT_OK);
    fixture_end(f, &leased, "\"outcome\":\"stopped\"");
    CHECK(kept(f).n == 1 && uses(f) == 1);
}

static void only_the_attempt_that_runs_may_have_one(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased leased = fixture_lease_one(f);
    CHECK(save(f, &leased, tree(f, '1'), 1)->status == HT_INVALID);
    fixture_tell(f, "started", &leased.name, "");
    CHECK(save(f, &leased, "../etc", 1)->status == HT_INVALID);
    CHECK(save(f, &leased, tree(f, 'g'), 1)->status == HT_INVALID);
    CHECK(save(f, &leased, tree(f, '1'), -2)->status == HT_INVALID);
    be(f, "b");
    CHECK(save(f, &leased, tree(f, '1'), 1)->status == HT_NOT_FOUND);
    f->runner = "a";
    fixture_tell(f, "ended", &leased.name, "\"outcome\":\"lost\"");
    CHECK(save(f, &leased, tree(f, '1'), -1)->status == HT_OK);
    fixture_tell(f, "drained", &leased.name, "");
    CHECK(save(f, &leased, tree(f, '2'), 1)->status == HT_NOT_FOUND);
    const struct leased next = fixture_begin(f);
    CHECK(save(f, &leased, tree(f, '2'), 1)->status == HT_NOT_FOUND);
    CHECK(save(f, &next, tree(f, '2'), 1)->status == HT_OK);
    CHECK(kept(f).n == 2);
}

static bool is_wanted(struct fixture *f, const struct leased *leased,
                      const char *outcome)
{
    struct request *req =
        fixture_tell(f, "ended", &leased->name,
                     arena_printf(f->arena, "\"outcome\":\"%s\"", outcome));
    CHECK(req->status == HT_OK);
    return node_get_bool(fixture_reply(req), "checkpoint", false);
}

static void a_runner_learns_whether_the_trial_may_continue(struct fixture *f)
{
    static const struct {
        const char *outcome;
        bool wanted;
    } ends[] = {{"lost", true},
                {"failed", true}, /* the retry */
                {"failed", false}};
    prepare(f);
    submit(f, 1, "retries: 1\n");
    be(f, "a");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct leased leased = fixture_begin(f);
        CHECK(is_wanted(f, &leased, ends[i].outcome) == ends[i].wanted);
        fixture_tell(f, "drained", &leased.name, "");
    }
}

static void a_trial_that_succeeded_needs_none(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased leased = fixture_begin(f);
    CHECK(!is_wanted(f, &leased, "succeeded"));
}

/* Nothing of ours has stopped the trial: its runner wants to be free. */
static void what_a_runner_stops_by_itself_may_continue(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased leased = fixture_begin(f);
    CHECK(is_wanted(f, &leased, "stopped"));
}

static void what_a_person_stops_does_not_continue(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    const struct leased leased = fixture_begin(f);
    CHECK(fixture_call_trial(f, trial_stop, "s", "1", NULL)->status == HT_OK);
    CHECK(!is_wanted(f, &leased, "stopped"));
}

/* --- losses --- */

static void report(struct fixture *f, const struct leased *leased, int64_t step)
{
    CHECK(fixture_report(f, leased->token, fixture_record(f, 1, step, "0.5"))
              ->status == HT_OK);
}

static void three_losses_without_progress_end_the_trial(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    for (int i = 1; i <= HT_MAX_LOST_WORK; i++) {
        const struct leased leased = fixture_begin(f);
        CHECK(leased.name.trial == 1 && leased.name.attempt == i);
        CHECK(fixture_trial(f, 1, 1).losses == i - 1);
        lose(f, &leased);
    }
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_FAILED && trial.failures == 0);
    CHECK_TEXT(trial.reason, "lost 3 times in a row without a newer checkpoint "
                             "or step: shim died");
}

static void a_trial_that_gets_further_may_be_lost_often(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    for (int i = 1; i <= 12; i++) {
        const struct leased leased = fixture_begin(f);
        CHECK(leased.name.trial == 1 && leased.name.attempt == i);
        if (i % 2 == 0)
            report(f, &leased, i);
        else
            CHECK(save(f, &leased, tree(f, (char)('a' + i % 6)), i)->status ==
                  HT_OK);
        lose(f, &leased);
        CHECK(fixture_trial(f, 1, 1).losses == 0);
    }
}

/* Its checkpoints are in an outputDir, so the runner alone knows. */
static void a_runner_may_say_that_one_got_further(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "outputDir: /shared\n");
    be(f, "a");
    for (int i = 1; i <= HT_MAX_LOST_WORK + 1; i++) {
        const struct leased leased = fixture_begin(f);
        CHECK(leased.name.attempt == i);
        fixture_tell(f, "ended", &leased.name,
                     "\"outcome\":\"lost\",\"reason\":\"shim died\"");
        fixture_tell(f, "drained", &leased.name, "\"saved\":true");
        CHECK(fixture_trial(f, 1, 1).losses == 0);
    }
}

/* It begins anew each time, since it has no checkpoint. */
static void the_same_steps_again_are_no_progress(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    for (int i = 1; i <= HT_MAX_LOST_WORK + 1; i++) {
        const struct leased leased = fixture_begin(f);
        CHECK(leased.name.trial == 1 && leased.name.attempt == i);
        report(f, &leased, 50);
        lose(f, &leased);
    }
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_FAILED);
}

/* The runner sends what the attempt continued from. */
static void the_same_tree_again_is_no_progress(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "");
    be(f, "a");
    for (int i = 1; i <= HT_MAX_LOST_WORK + 1; i++) {
        const struct leased leased = fixture_begin(f);
        CHECK(leased.name.attempt == i);
        CHECK(save(f, &leased, tree(f, '1'), 1)->status == HT_OK);
        lose(f, &leased);
    }
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_FAILED);
}

static void a_failure_between_losses_counts_anew(struct fixture *f)
{
    prepare(f);
    submit(f, 1, "retries: 1\n");
    be(f, "a");
    for (int i = 1; i <= 5; i++) {
        const struct leased leased = fixture_begin(f);
        CHECK(leased.name.trial == 1 && leased.name.attempt == i);
        if (i == 3)
            fixture_end(f, &leased, "\"outcome\":\"failed\"");
        else
            lose(f, &leased);
    }
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_REQUESTED);
}

int main(void)
{
    RUN_ON_CORE(a_lost_trial_continues_at_another_runner);
    RUN_ON_CORE(an_attempt_that_never_began_has_no_files);
    RUN_ON_CORE(one_that_cannot_be_had_is_passed_over);
    RUN_ON_CORE(a_shared_folder_needs_no_copy);
    RUN_ON_CORE(the_newest_two_are_kept);
    RUN_ON_CORE(outputs_that_are_not_kept_have_no_checkpoint);
    RUN_ON_CORE(the_store_keeps_what_is_named);
    RUN_ON_CORE(only_the_attempt_that_runs_may_have_one);
    RUN_ON_CORE(a_runner_learns_whether_the_trial_may_continue);
    RUN_ON_CORE(a_trial_that_succeeded_needs_none);
    RUN_ON_CORE(what_a_runner_stops_by_itself_may_continue);
    RUN_ON_CORE(what_a_person_stops_does_not_continue);
    RUN_ON_CORE(three_losses_without_progress_end_the_trial);
    RUN_ON_CORE(a_trial_that_gets_further_may_be_lost_often);
    RUN_ON_CORE(a_runner_may_say_that_one_got_further);
    RUN_ON_CORE(the_same_steps_again_are_no_progress);
    RUN_ON_CORE(the_same_tree_again_is_no_progress);
    RUN_ON_CORE(a_failure_between_losses_counts_anew);
    return check_done();
}
