/* Suggestions: the same ones however the worker came to its state. */
#include "proto/form/form.h"
#include "tests/lib/core_fixture.h"
#include "tuner/api/vizier.h"
#include "tuner/core/live.h"
#include "tuner/search/study.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 7\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "  opt: [a, b]\nalgorithm: random\ntrials: 12\nparallel: 1\n"
    "command: [./train]\n";

/* Names no algorithm. */
static const char model_spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 7\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "  opt: [a, b]\ntrials: 12\nparallel: 1\nretries: 0\n"
    "command: [./train]\n";

/* What a search without a context finds. */
static enum ht_status suggest(struct search_study *study, int64_t ordinal,
                              size_t n, struct arena *arena,
                              struct suggestions *found)
{
    const struct worker_question question = {.first = ordinal, .n = n};
    return search_study_suggest(study, &question, arena, found, NULL);
}

/* The params of all trials of a study, one a line. */
static const char *all_params(struct fixture *fixture, int64_t study)
{
    struct db *db = fixture_db(fixture);
    struct trial_list list = {0};
    CHECK(db_trial_list(db, fixture->arena, study, 0, 1000, &list, NULL) ==
          HT_OK);
    const char *text = "";
    for (size_t i = 0; i < list.n; i++)
        text =
            arena_printf(fixture->arena, "%s%s\n", text, list.rows[i].params);
    db_close(db);
    return text;
}

/* Accuracy is a parabola of lr. */
static void run_trials(struct fixture *fixture, int n)
{
    for (int i = 0; i < n; i++) {
        struct leased leased = {0};
        double lr = 0;
        leased = fixture_lease_one(fixture);
        const char *params =
            fixture_trial(fixture, 1, leased.name.trial).params;
        CHECK(sscanf(params, "{\"lr\":%lf", &lr) == 1);
        fixture_succeed(
            fixture, &leased,
            arena_printf(fixture->arena, "%.17g", 1 - (lr - 0.3) * (lr - 0.3)));
    }
}

static void check_restart(const char *text)
{
    struct fixture f, g;
    fixture_open(&f);
    fixture_submit(&f, text);
    fixture_hello(&f, 1);
    run_trials(&f, 12);
    fixture_open(&g);
    fixture_submit(&g, text);
    fixture_hello(&g, 1);
    run_trials(&g, 8);
    fixture_stop(&g);
    CHECK(fixture_start(&g));
    run_trials(&g, 4);
    CHECK(fixture_await_study(&f, 1, STUDY_SUCCEEDED));
    CHECK(fixture_await_study(&g, 1, STUDY_SUCCEEDED));
    CHECK(strlen(all_params(&f, 1)) > 12);
    CHECK_TEXT(all_params(&g, 1), all_params(&f, 1));
    fixture_close(&g);
    fixture_close(&f);
}

static void a_restart_does_not_change_the_suggestions(void)
{
    check_restart(spec);
    check_restart(model_spec);
}

static void
a_study_that_names_no_algorithm_learns_from_results(struct fixture *f)
{
    fixture_submit(f, model_spec);
    fixture_hello(f, 1);
    run_trials(f, 10);
    const struct study_row row = fixture_study(f, 1);
    struct job *job = NULL;
    CHECK(vertex_parse(f->arena, row.spec, &job, NULL) == HT_OK);
    CHECK(job->algorithm == ALGORITHM_BAYESIAN);
    /* Another result of the tenth trial makes another eleventh one. */
    struct db *db = fixture_db(f);
    struct search_study *study = search_study_new(1, NULL, NULL);
    struct suggestions next = {0}, again = {0};
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 11, 1, f->arena, &next) == HT_OK);
    struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.99");
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 11, 1, f->arena, &again) == HT_OK);
    CHECK(next.n == 1 && again.n == 1);
    CHECK(strcmp(next.items[0].params, again.items[0].params) != 0);
    search_study_free(study);
    db_close(db);
}

static const char pausing_spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 7\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "  opt: [a, b]\ntrials: 40\nparallel: 1\nretries: 0\n"
    "command: [./train]\n"
    "earlyStopping: {rule: asha, minSteps: 1, maxSteps: 9, pause: true}\n";

/* Whether the judge lets a trial go on that came to its first rung. */
static bool goes_on(struct fixture *fixture, int64_t id)
{
    struct trial_row trial = fixture_trial(fixture, 1, id);
    while (trial.state == TRIAL_ACTIVE && trial.rungs_passed == 0) {
        fixture_nap();
        trial = fixture_trial(fixture, 1, id);
    }
    return trial.state == TRIAL_ACTIVE;
}

static void report_at(struct fixture *fixture, const struct leased *leased,
                      int64_t step)
{
    double lr = 0;
    const char *params = fixture_trial(fixture, 1, leased->name.trial).params;
    CHECK(sscanf(params, "{\"lr\":%lf", &lr) == 1);
    const char *accuracy =
        arena_printf(fixture->arena, "%.17g", 1 - (lr - 0.3) * (lr - 0.3));
    CHECK(fixture_report(fixture, leased->token,
                         fixture_record(fixture, step, step, accuracy))
              ->status == HT_OK);
}

/* A trial comes to its first rung, or goes on from there to its end; its
 * values are a parabola of lr. */
static void run_to_rung(struct fixture *fixture)
{
    struct leased leased = fixture_begin(fixture);
    bool ends = leased.name.attempt > 1;
    if (!ends) {
        report_at(fixture, &leased, 1);
        ends = goes_on(fixture, leased.name.trial);
    }
    if (ends)
        report_at(fixture, &leased, 9);
    fixture_end(fixture, &leased,
                ends ? "\"outcome\":\"succeeded\",\"exit\":0"
                     : "\"outcome\":\"stopped\"");
}

static const char *next_of(struct search_study *study, struct db *db,
                           struct arena *arena)
{
    struct suggestions next = {0};
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 30, 1, arena, &next) == HT_OK);
    return next.n == 1 ? next.items[0].params : "";
}

/* Paused trials are known by what is foretold of them, until they go on; a
 * state that saw all of it is as good as a fresh one. */
static void
what_is_foretold_of_paused_trials_counts_while_they_pause(struct fixture *f)
{
    fixture_submit(f, pausing_spec);
    fixture_hello(f, 1);
    struct db *db = fixture_db(f);
    struct search_study *living = search_study_new(1, NULL, NULL);
    bool promoted = false;
    for (int i = 0; i < 20; i++) {
        run_to_rung(f);
        CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
        struct search_study *fresh = search_study_new(1, NULL, NULL);
        CHECK_TEXT(next_of(living, db, f->arena), next_of(fresh, db, f->arena));
        search_study_free(fresh);
    }
    search_study_free(living);
    struct trial_list list;
    CHECK(db_trial_list(db, f->arena, 1, 0, 100, &list, NULL) == HT_OK);
    size_t foretold = 0, known = 0; /* known: as the nearest result */
    for (size_t i = 0; i < list.n; i++) {
        foretold += list.rows[i].state == TRIAL_PAUSED &&
                    strstr(list.rows[i].stop, "\"predicted\"") != NULL;
        promoted = promoted || list.rows[i].state == TRIAL_SUCCEEDED;
        const char *nearest = strstr(list.rows[i].why, "\"nearest\":");
        long id = 0;
        if (nearest != NULL &&
            sscanf(nearest, "\"nearest\":{\"trial\":\"%ld\"", &id) == 1)
            known += list.rows[id - 1].state == TRIAL_PAUSED;
    }
    CHECK(foretold > 5 && promoted && known > 0);
    db_close(db);
}

static void erase_trial(struct fixture *fixture, const char *trial)
{
    CHECK(fixture_call_trial(fixture, vizier_delete_trial, "1", trial, NULL)
              ->status == HT_OK);
}

static void what_is_out_moves_the_next_suggestion(struct fixture *f)
{
    fixture_submit(f, model_spec);
    fixture_hello(f, 1);
    run_trials(f, 10);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(fixture_call(f, study_pause, "1", NULL)->status == HT_OK);
    struct db *db = fixture_db(f);
    struct search_study *study = search_study_new(1, NULL, NULL);
    struct suggestions two = {0}, alone = {0}, without = {0};
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 11, 2, f->arena, &two) == HT_OK);
    CHECK(suggest(study, 12, 1, f->arena, &alone) == HT_OK);
    CHECK(two.n == 2 && alone.n == 1);
    CHECK(strcmp(two.items[1].params, alone.items[0].params) != 0);
    erase_trial(f, "11"); /* was open */
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 12, 1, f->arena, &without) == HT_OK);
    CHECK(strcmp(without.items[0].params, alone.items[0].params) != 0);
    search_study_free(study);
    db_close(db);
}

/* A failure counts until its trial runs again, and a build afterwards sees
 * what one from the beginning sees. */
static void a_result_taken_back_is_forgotten(struct fixture *f)
{
    fixture_submit(f, model_spec);
    fixture_hello(f, 1);
    run_trials(f, 9);
    struct leased leased = fixture_lease_one(f);
    fixture_end_as(f, &leased, "\"outcome\":\"failed\",\"exit\":3");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(fixture_call(f, study_pause, "1", NULL)->status == HT_OK);
    struct db *db = fixture_db(f);
    struct search_study *early = search_study_new(1, NULL, NULL);
    struct search_study *late = search_study_new(1, NULL, NULL);
    struct suggestions failed = {0}, open = {0}, fresh = {0};
    CHECK(search_study_catch_up(early, db, NULL) == HT_OK);
    CHECK(suggest(early, 12, 3, f->arena, &failed) == HT_OK);
    CHECK(fixture_call_trial(f, trial_retry, "1", "10", NULL)->status == HT_OK);
    CHECK(search_study_catch_up(early, db, NULL) == HT_OK);
    CHECK(search_study_catch_up(late, db, NULL) == HT_OK);
    CHECK(suggest(early, 12, 3, f->arena, &open) == HT_OK);
    CHECK(suggest(late, 12, 3, f->arena, &fresh) == HT_OK);
    CHECK(open.n == 3 && fresh.n == 3 && failed.n == 3);
    CHECK(strcmp(open.items[0].params, failed.items[0].params) != 0);
    for (size_t i = 0; i < 3; i++)
        CHECK_TEXT(fresh.items[i].params, open.items[i].params);
    search_study_free(early);
    search_study_free(late);
    db_close(db);
}

static void many_at_once_are_the_same_as_one_by_one(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    struct db *db = fixture_db(f);
    struct search_study *study = search_study_new(1, NULL, NULL);
    struct suggestions batch = {0}, one = {0};
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 1, 8, f->arena, &batch) == HT_OK);
    CHECK(batch.n == 8 && !batch.exhausted);
    for (int64_t i = 0; i < 8; i++) {
        CHECK(suggest(study, 1 + i, 1, f->arena, &one) == HT_OK);
        CHECK_TEXT(one.items[0].params, batch.items[i].params);
    }
    search_study_free(study);
    db_close(db);
}

static void committed_points_are_never_suggested_again(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 3\n"
                      "parameters:\n  lr: {type: integer, min: 1, max: 9}\n"
                      "algorithm: random\ntrials: 4\nparallel: 4\n"
                      "command: [./train]\n");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 4));
    struct db *db = fixture_db(f);
    struct search_study *study = search_study_new(1, NULL, NULL);
    struct suggestions rest = {0};
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 4, 64, f->arena, &rest) == HT_OK);
    CHECK(rest.n == 5 && rest.exhausted);
    const char *tried = all_params(f, 1);
    for (size_t i = 0; i < rest.n; i++)
        CHECK(strstr(tried, rest.items[i].params) == NULL);
    search_study_free(study);
    db_close(db);
}

/* Whoever saw the trial forgets it, and whoever starts later never hears. */
static void a_deleted_trial_is_forgotten(struct fixture *f)
{
    fixture_submit(f, "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 3\n"
                      "parameters:\n  lr: {type: integer, min: 1, max: 9}\n"
                      "algorithm: random\ntrials: 4\nparallel: 4\n"
                      "command: [./train]\n");
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 4));
    struct db *db = fixture_db(f);
    struct search_study *early = search_study_new(1, NULL, NULL);
    struct search_study *late = search_study_new(1, NULL, NULL);
    struct suggestions before = {0}, after = {0}, fresh = {0};
    CHECK(search_study_catch_up(early, db, NULL) == HT_OK);
    CHECK(suggest(early, 4, 64, f->arena, &before) == HT_OK);
    const char *point = fixture_trial(f, 1, 2).params;
    erase_trial(f, "2");
    CHECK(search_study_catch_up(early, db, NULL) == HT_OK);
    CHECK(search_study_catch_up(late, db, NULL) == HT_OK);
    CHECK(suggest(early, 4, 64, f->arena, &after) == HT_OK);
    CHECK(suggest(late, 4, 64, f->arena, &fresh) == HT_OK);
    CHECK(before.n == 5 && after.n == 6 && fresh.n == 6);
    bool again = false;
    for (size_t i = 0; i < after.n; i++) {
        CHECK_TEXT(fresh.items[i].params, after.items[i].params);
        again = again || strcmp(after.items[i].params, point) == 0;
    }
    CHECK(again);
    search_study_free(early);
    search_study_free(late);
    db_close(db);
}

static void a_jobs_constraints_hold_in_every_trial(struct fixture *f)
{
    static const char constrained[] =
        "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 7\n"
        "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
        "  opt: [a, b]\ntrials: 12\nparallel: 1\n"
        "constraints: [\"lr <= 0.2 or opt == 'b' and lr < 0.25\"]\n"
        "command: [./train]\n";
    fixture_submit(f, constrained);
    fixture_hello(f, 1);
    run_trials(f, 12);
    for (int64_t trial = 1; trial <= 12; trial++) {
        double lr = 1;
        char opt = ' ';
        const char *params = fixture_trial(f, 1, trial).params;
        CHECK(sscanf(params, "{\"lr\":%lf,\"opt\":\"%c", &lr, &opt) == 2);
        CHECK(lr < (opt == 'b' ? 0.25 : 0.2 + 1e-12));
    }
}

static void only_what_the_constraints_allow_is_in_a_grid(struct fixture *f)
{
    static const char small[] =
        "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 7\n"
        "parameters:\n  n: {type: integer, min: 1, max: 4}\n"
        "  m: {type: integer, min: 1, max: 4}\ntrials: 12\nparallel: 1\n"
        "algorithm: grid\nconstraints: [\"n + m < 4\"]\n"
        "command: [./train]\n";
    fixture_submit(f, small);
    struct db *db = fixture_db(f);
    struct search_study *study = search_study_new(1, NULL, NULL);
    struct suggestions found = {0};
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 1, 9, f->arena, &found) == HT_OK);
    CHECK(found.n == 2);
    CHECK(found.exhausted);
    search_study_free(study);
    db_close(db);
}

static void the_reason_names_what_a_point_was_made_from(struct fixture *f)
{
    fixture_submit(f, model_spec);
    fixture_hello(f, 1);
    run_trials(f, 10);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 1));
    struct db *db = fixture_db(f);
    struct search_study *study = search_study_new(1, NULL, NULL);
    struct suggestions two = {0};
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(suggest(study, 11, 2, f->arena, &two) == HT_OK);
    const char *origin =
        arena_printf(f->arena,
                     "\"revision\":\"%lld\",\"ordinal\":\"12\",\"batch\":1,"
                     "\"trials\":\"12\",\"pending\":[\"11\"]",
                     (long long)fixture_study(f, 1).revision);
    CHECK(strstr(two.items[0].why, "\"ordinal\":\"11\",\"batch\":0,") != NULL);
    CHECK(strstr(two.items[1].why, origin) != NULL);
    search_study_free(study);
    db_close(db);
}

int main(void)
{
    RUN(a_restart_does_not_change_the_suggestions);
    RUN_ON_CORE(a_study_that_names_no_algorithm_learns_from_results);
    RUN_ON_CORE(what_is_foretold_of_paused_trials_counts_while_they_pause);
    RUN_ON_CORE(what_is_out_moves_the_next_suggestion);
    RUN_ON_CORE(a_result_taken_back_is_forgotten);
    RUN_ON_CORE(many_at_once_are_the_same_as_one_by_one);
    RUN_ON_CORE(committed_points_are_never_suggested_again);
    RUN_ON_CORE(a_deleted_trial_is_forgotten);
    RUN_ON_CORE(a_jobs_constraints_hold_in_every_trial);
    RUN_ON_CORE(only_what_the_constraints_allow_is_in_a_grid);
    RUN_ON_CORE(the_reason_names_what_a_point_was_made_from);
    return check_done();
}
