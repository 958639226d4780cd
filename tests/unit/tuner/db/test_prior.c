/* What is kept of earlier studies, and what is not. */
#include "tuner/db/prior.h"

#include "tests/lib/db_place.h"
#include "tuner/db/write.h"

enum { MANY = 22400 };

/* The objective of each trial is its id; every hundredth failed. */
static void put_many(struct db *db)
{
    CHECK(db_begin(db, NULL) == HT_OK);
    for (int64_t id = 1; id <= MANY; id++)
        db_place_put(db, id, id % 100 == 0 ? TRIAL_FAILED : TRIAL_SUCCEEDED,
                     (double)id);
    db_place_put(db, MANY + 1, TRIAL_ACTIVE, 0);
    CHECK(db_commit(db, NULL) == HT_OK);
}

/* A study after that of its trials. */
static void put_next(struct db *db, int64_t id, const char *name)
{
    struct study_row next = db_place_study;
    next.id = id;
    next.name = name;
    CHECK(db_study_insert(db, &next, NULL) == HT_OK);
}

static const struct prior_row a_prior = {.study = 2,
                                         .n = 0,
                                         .origin = 1,
                                         .resource = "r",
                                         .name = "s",
                                         .spec = "{}",
                                         .shared = 3,
                                         .results = 7,
                                         .failures = 2,
                                         .own = 8};

static void of_an_earlier_study_the_best_and_the_newest_are_copied(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    struct arena *arena = arena_new();
    struct prior_trial_list list;
    struct prior_list priors;
    bool left = true;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    put_many(db);
    put_next(db, 2, "next");
    db_place_tamper(&place, "UPDATE trials SET final_step=4, "
                            "stop='{\"end\":9,\"curve\":[[1,2]]}' WHERE id=1");
    CHECK(db_prior_copy(db, &a_prior, false, NULL) == HT_OK);
    CHECK(db_prior_insert(db, &a_prior, NULL) == HT_OK);
    CHECK(db_prior_results(db, arena, 2, 0, &list, NULL) == HT_OK);
    CHECK(list.n == 22000);
    const struct prior_trial *rows = list.rows;
    CHECK(rows[0].trial.id == 1 && rows[0].trial.objective == 1);
    CHECK(rows[0].point == NULL);
    CHECK_TEXT(rows[0].trial.stop, "{\"end\":9}");
    CHECK(rows[0].trial.final_step == 4 && rows[1].trial.stop[0] == '\0');
    CHECK(rows[1999].trial.id == 2000 && rows[2000].trial.id == 2401);
    CHECK(rows[21999].trial.id == MANY &&
          rows[21999].trial.state == TRIAL_FAILED);
    while (left)
        CHECK(db_study_erase(db, 1, 5000, &left, NULL) == HT_OK);
    CHECK(db_prior_list(db, arena, 2, &priors, NULL) == HT_OK);
    CHECK(priors.n == 1 && priors.rows[0].origin == 1 &&
          priors.rows[0].shared == 3 && priors.rows[0].results == 7 &&
          priors.rows[0].failures == 2 && priors.rows[0].own == 8 &&
          !priors.rows[0].inherited);
    CHECK(db_place_ask(db, "SELECT count(*) FROM prior_results") == 22000);
    for (left = true; left;)
        CHECK(db_study_erase(db, 2, 5000, &left, NULL) == HT_OK);
    CHECK(db_place_ask(db, "SELECT count(*) FROM prior_results") == 0);
    CHECK(db_place_ask(db, "SELECT count(*) FROM priors") == 0);
    arena_free(arena);
    db_close(db);
    db_place_close(&place);
}

#define ATTEMPT(trial, started, doctor)                                        \
    "INSERT INTO attempts(study, trial, n, state, runner, boot, lease_id, "    \
    "token_hash, created_ms, started_ms, doctor) VALUES(1, " trial             \
    ", 1, 3, 'r', 'b', 1, x'0" trial "', 1, " started ", " doctor ");"

/* 1 crashed, 2 lost its machines, 3 never began, 4 reported nothing, 5 a value
 * that is none, 6 is paused, 7 cancelled, 8 still runs. */
static void what_failed_by_anothers_fault_is_not_copied(void)
{
    static const enum trial_state states[] = {
        TRIAL_FAILED,     TRIAL_FAILED, TRIAL_FAILED,    TRIAL_INFEASIBLE,
        TRIAL_INFEASIBLE, TRIAL_PAUSED, TRIAL_CANCELLED, TRIAL_ACTIVE};
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    struct arena *arena = arena_new();
    struct prior_trial_list list;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    for (int64_t i = 0; i < 8; i++)
        db_place_put(db, i + 1, states[i], 0);
    put_next(db, 2, "next");
    db_place_tamper(
        &place,
        "UPDATE trials SET objective=NULL, attempt=1;" ATTEMPT("1", "5", "''")
            ATTEMPT("2", "5", "''") "UPDATE attempts SET outcome=5 WHERE "
                                    "trial=2;" ATTEMPT("3", "0", "''")
                                        ATTEMPT("4", "5", "'{}'")
                                            ATTEMPT("5", "5", "''"));
    CHECK(db_prior_copy(db, &a_prior, false, NULL) == HT_OK);
    CHECK(db_prior_results(db, arena, 2, 0, &list, NULL) == HT_OK);
    CHECK(list.n == 3 && list.rows[0].trial.id == 1 &&
          list.rows[1].trial.id == 5 && list.rows[2].trial.id == 6);
    /* Where others of the study report, silence is the trial's own fault. */
    db_place_tamper(&place, "DELETE FROM prior_results;"
                            "UPDATE trials SET objective=1 WHERE id=7");
    CHECK(db_prior_copy(db, &a_prior, false, NULL) == HT_OK);
    CHECK(db_prior_results(db, arena, 2, 0, &list, NULL) == HT_OK);
    CHECK(list.n == 4 && list.rows[1].trial.id == 4);
    arena_free(arena);
    db_close(db);
    db_place_close(&place);
}

static void an_earlier_point_counts_as_tried_and_may_be_repeated(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    struct arena *arena = arena_new();
    struct prior_trial_list list;
    int64_t n = -1;
    bool measured = true;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    db_place_put(db, 1, TRIAL_SUCCEEDED, 1);
    db_place_put(db, 2, TRIAL_FAILED, 1);
    put_next(db, 2, "next");
    db_place_tamper(&place, "UPDATE trials SET objective=NULL WHERE id=2");
    CHECK(db_prior_copy(db, &a_prior, false, NULL) == HT_OK);
    CHECK(db_prior_results(db, arena, 2, 0, &list, NULL) == HT_OK);
    CHECK(db_prior_tried(db, 2, &n, NULL) == HT_OK && n == 0);
    CHECK(db_prior_measured(db, 2, &measured, NULL) == HT_OK && !measured);
    for (size_t i = 0; i < 2; i++) {
        list.rows[i].point = list.rows[i].trial.params;
        CHECK(db_prior_own(db, &a_prior, &list.rows[i], NULL) == HT_OK);
    }
    CHECK(db_prior_tried(db, 2, &n, NULL) == HT_OK && n == 2);
    CHECK(db_prior_measured(db, 2, &measured, NULL) == HT_OK && measured);
    CHECK(db_trial_next_replicate(db, 2, "{\"x\":1}", &n, NULL) == HT_OK);
    CHECK(n == 1);
    CHECK(db_trial_next_replicate(db, 2, "{\"x\":9}", &n, NULL) == HT_OK);
    CHECK(n == 0);
    db_place_tamper(&place,
                    "INSERT INTO trials(study, id, state, params, replicate, "
                    "ordinal, reason, created_ms) "
                    "VALUES(2, 1, 4, '{\"x\":1}', 4, 0, '', 1)");
    CHECK(db_prior_tried(db, 2, &n, NULL) == HT_OK && n == 1);
    CHECK(db_trial_next_replicate(db, 2, "{\"x\":1}", &n, NULL) == HT_OK);
    CHECK(n == 5);
    arena_free(arena);
    db_close(db);
    db_place_close(&place);
}

static void what_a_study_started_from_is_inherited_once(void)
{
    struct db_place place;
    db_place_open(&place);
    struct db *db = NULL;
    struct arena *arena = arena_new();
    struct prior_trial_list list;
    struct prior_row heir = a_prior;
    CHECK(db_open(place.path, &db, NULL) == HT_OK);
    CHECK(db_study_insert(db, &db_place_study, NULL) == HT_OK);
    db_place_put(db, 1, TRIAL_SUCCEEDED, 1);
    db_place_put(db, 2, TRIAL_SUCCEEDED, 1);
    put_next(db, 2, "next");
    put_next(db, 3, "heir");
    CHECK(db_prior_copy(db, &a_prior, false, NULL) == HT_OK);
    db_place_tamper(&place, "UPDATE prior_results SET point=params");
    heir.study = 3;
    heir.n = 4;
    for (int i = 0; i < 2; i++)
        CHECK(db_prior_inherit(db, &heir, 2, 0, NULL) == HT_OK);
    CHECK(db_prior_drop(db, &heir, 2, NULL) == HT_OK);
    CHECK(db_prior_results(db, arena, 3, 4, &list, NULL) == HT_OK);
    CHECK(list.n == 1 && list.rows[0].trial.id == 1 &&
          list.rows[0].point == NULL);
    arena_free(arena);
    db_close(db);
    db_place_close(&place);
}

int main(void)
{
    RUN(of_an_earlier_study_the_best_and_the_newest_are_copied);
    RUN(what_failed_by_anothers_fault_is_not_copied);
    RUN(an_earlier_point_counts_as_tried_and_may_be_repeated);
    RUN(what_a_study_started_from_is_inherited_once);
    return check_done();
}
