/* Suggestions: the same ones however the worker came to its state. */
#include "tests/unit/core_fixture.h"
#include "tuner/search_study.h"
#include "tuner/vizier.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 7\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "  opt: [a, b]\nalgorithm: random\ntrials: 12\nparallel: 1\n"
    "command: [./train]\n";

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

static void run_trials(struct fixture *fixture, int n)
{
    for (int i = 0; i < n; i++) {
        struct leased leased = {0};
        CHECK(fixture_lease(fixture, 1, &leased) == 1);
        fixture_succeed(fixture, &leased, "0.5");
    }
}

static void a_restart_does_not_change_the_suggestions(void)
{
    struct fixture f, g;
    fixture_open(&f);
    fixture_submit(&f, spec);
    fixture_hello(&f, 1);
    run_trials(&f, 12);
    fixture_open(&g);
    fixture_submit(&g, spec);
    fixture_hello(&g, 1);
    run_trials(&g, 5);
    fixture_stop(&g);
    CHECK(fixture_start(&g));
    run_trials(&g, 7);
    CHECK(fixture_await_study(&f, 1, STUDY_SUCCEEDED));
    CHECK(fixture_await_study(&g, 1, STUDY_SUCCEEDED));
    CHECK(strlen(all_params(&f, 1)) > 12);
    CHECK_TEXT(all_params(&g, 1), all_params(&f, 1));
    fixture_close(&g);
    fixture_close(&f);
}

static void many_at_once_are_the_same_as_one_by_one(void)
{
    struct fixture f;
    fixture_open(&f);
    fixture_submit(&f, spec);
    CHECK(fixture_await_trials(&f, 1, TRIAL_REQUESTED, 1));
    struct db *db = fixture_db(&f);
    struct search_study *study = search_study_new(1);
    struct suggestions batch = {0}, one = {0};
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(search_study_suggest(study, 1, 8, f.arena, &batch, NULL) == HT_OK);
    CHECK(batch.n == 8 && !batch.exhausted);
    for (int64_t i = 0; i < 8; i++) {
        CHECK(search_study_suggest(study, 1 + i, 1, f.arena, &one, NULL) ==
              HT_OK);
        CHECK_TEXT(one.points[0], batch.points[i]);
    }
    search_study_free(study);
    db_close(db);
    fixture_close(&f);
}

static void committed_points_are_never_suggested_again(void)
{
    struct fixture f;
    fixture_open(&f);
    fixture_submit(&f, "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 3\n"
                       "parameters:\n  lr: {type: integer, min: 1, max: 9}\n"
                       "algorithm: random\ntrials: 4\nparallel: 4\n"
                       "command: [./train]\n");
    CHECK(fixture_await_trials(&f, 1, TRIAL_REQUESTED, 4));
    struct db *db = fixture_db(&f);
    struct search_study *study = search_study_new(1);
    struct suggestions rest = {0};
    CHECK(search_study_catch_up(study, db, NULL) == HT_OK);
    CHECK(search_study_suggest(study, 4, 64, f.arena, &rest, NULL) == HT_OK);
    CHECK(rest.n == 5 && rest.exhausted);
    const char *tried = all_params(&f, 1);
    for (size_t i = 0; i < rest.n; i++)
        CHECK(strstr(tried, rest.points[i]) == NULL);
    search_study_free(study);
    db_close(db);
    fixture_close(&f);
}

static void erase_trial(struct fixture *fixture, const char *trial)
{
    struct request *req = fixture_request(fixture, trial_erase, NULL);
    req->study = "1";
    req->trial = trial;
    core_post(fixture->core, req);
    fixture_wait(fixture, req);
    CHECK(req->status == HT_OK);
}

/* Whoever saw the trial forgets it, and whoever starts later never hears. */
static void a_deleted_trial_is_forgotten(void)
{
    struct fixture f;
    fixture_open(&f);
    fixture_submit(&f, "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 3\n"
                       "parameters:\n  lr: {type: integer, min: 1, max: 9}\n"
                       "algorithm: random\ntrials: 4\nparallel: 4\n"
                       "command: [./train]\n");
    CHECK(fixture_await_trials(&f, 1, TRIAL_REQUESTED, 4));
    struct db *db = fixture_db(&f);
    struct search_study *early = search_study_new(1);
    struct search_study *late = search_study_new(1);
    struct suggestions before = {0}, after = {0}, fresh = {0};
    CHECK(search_study_catch_up(early, db, NULL) == HT_OK);
    CHECK(search_study_suggest(early, 4, 64, f.arena, &before, NULL) == HT_OK);
    const char *point = fixture_trial(&f, 1, 2).params;
    erase_trial(&f, "2");
    CHECK(search_study_catch_up(early, db, NULL) == HT_OK);
    CHECK(search_study_catch_up(late, db, NULL) == HT_OK);
    CHECK(search_study_suggest(early, 4, 64, f.arena, &after, NULL) == HT_OK);
    CHECK(search_study_suggest(late, 4, 64, f.arena, &fresh, NULL) == HT_OK);
    CHECK(before.n == 5 && after.n == 6 && fresh.n == 6);
    bool again = false;
    for (size_t i = 0; i < after.n; i++) {
        CHECK_TEXT(fresh.points[i], after.points[i]);
        again = again || strcmp(after.points[i], point) == 0;
    }
    CHECK(again);
    search_study_free(early);
    search_study_free(late);
    db_close(db);
    fixture_close(&f);
}

int main(void)
{
    RUN(a_restart_does_not_change_the_suggestions);
    RUN(many_at_once_are_the_same_as_one_by_one);
    RUN(committed_points_are_never_suggested_again);
    RUN(a_deleted_trial_is_forgotten);
    return check_done();
}
