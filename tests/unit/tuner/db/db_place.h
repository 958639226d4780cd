/* db_place.h - a database file of a test's own, and trials to put there. */
#ifndef HT_TESTS_UNIT_TUNER_DB_DB_PLACE_H
#define HT_TESTS_UNIT_TUNER_DB_DB_PLACE_H

#include <sqlite3.h>

#include "tests/unit/tuner/core_fixture.h"
#include "tuner/db/internal.h"

struct place {
    char dir[64], path[96];
};

static inline void make_place(struct place *place)
{
    const char *root = getenv("TMPDIR");
    snprintf(place->dir, sizeof place->dir, "%s/ht-db-XXXXXX",
             root == NULL ? "/tmp" : root);
    CHECK(mkdtemp(place->dir) != NULL);
    snprintf(place->path, sizeof place->path, "%s/hypertune.db", place->dir);
}

static inline void remove_place(const struct place *place)
{
    fixture_remove(place->dir, "hypertune.db");
    fixture_remove(place->dir, "hypertune.db-wal");
    fixture_remove(place->dir, "hypertune.db-shm");
    CHECK(rmdir(place->dir) == 0);
}

/* Runs SQL on the file behind the program's back. */
static inline void tamper(const struct place *place, const char *sql)
{
    sqlite3 *handle;
    CHECK(sqlite3_open(place->path, &handle) == SQLITE_OK);
    CHECK(sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(handle);
}

static inline int64_t ask(struct db *db, const char *sql)
{
    sqlite3_stmt *stmt;
    int64_t value = -1;
    CHECK(sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) == SQLITE_OK);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static const struct study_row a_study = {.id = 1,
                                         .project = "p",
                                         .location = "l",
                                         .name = "digits",
                                         .display = "Digits",
                                         .spec = "{}",
                                         .reason = ""};

static inline void put_trial(struct db *db, int64_t id, enum trial_state state,
                             double objective)
{
    char params[32];
    bool inserted = false;
    snprintf(params, sizeof params, "{\"x\":%lld}", (long long)id);
    struct trial_row row = {.study = 1,
                            .id = id,
                            .state = state,
                            .params = params,
                            .reason = "",
                            .has_objective = true,
                            .objective = objective};
    CHECK(db_trial_insert(db, &row, &inserted, NULL) == HT_OK && inserted);
    CHECK(db_trial_save(db, &row, NULL) == HT_OK);
}

#endif
