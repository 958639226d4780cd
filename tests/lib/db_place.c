#include "tests/lib/db_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tuner/db/page_vfs.h"
#include "tuner/db/write.h"

const struct study_row db_place_study = {.id = 1,
                                         .project = "p",
                                         .location = "l",
                                         .name = "digits",
                                         .display = "Digits",
                                         .spec = "{}",
                                         .reason = ""};

void db_place_open(struct db_place *place)
{
    const char *root = getenv("TMPDIR");
    snprintf(place->dir, sizeof place->dir, "%s/ht-db-XXXXXX",
             root == NULL ? "/tmp" : root);
    CHECK(mkdtemp(place->dir) != NULL);
    snprintf(place->path, sizeof place->path, "%s/hypertune.db", place->dir);
}

void db_place_remove(const char *dir, const char *name)
{
    static const char *const ends[] = {"db", "db-wal", "db-shm", "db-mark"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s.%s", dir, name, ends[i]);
        unlink(path);
    }
}

void db_place_close(const struct db_place *place)
{
    db_place_remove(place->dir, "hypertune");
    CHECK(rmdir(place->dir) == 0);
}

void db_place_tamper(const struct db_place *place, const char *sql)
{
    sqlite3 *handle;
    page_vfs_register();
    CHECK(sqlite3_open_v2(place->path, &handle,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                          PAGE_VFS) == SQLITE_OK);
    CHECK(sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(handle);
}

int64_t db_place_ask(struct db *db, const char *sql)
{
    sqlite3_stmt *stmt;
    int64_t value = -1;
    CHECK(sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) == SQLITE_OK);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

void db_place_put(struct db *db, int64_t id, enum trial_state state,
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

void db_place_put_attempt(struct db *db, int64_t trial, int64_t n,
                          const char *runner)
{
    unsigned char hash[TOKEN_HASH_BYTES] = {(unsigned char)trial,
                                            (unsigned char)n};
    const struct runner_row machine = {.id = runner,
                                       .engine = "process",
                                       .host = "h",
                                       .boot = "b",
                                       .slots = 1,
                                       .online = true,
                                       .rules = "{}"};
    const struct attempt_row row = {
        .study = 1, .trial = trial, .n = n, .runner = runner};
    const struct attempt_lease lease = {
        .boot = "b", .lease_id = 1, .token_hash = hash};
    CHECK(db_runner_save(db, &machine, NULL) == HT_OK);
    CHECK(db_attempt_insert(db, &row, &lease, NULL) == HT_OK);
}

void db_place_put_record(struct db *db, const struct trial_name *name,
                         int64_t step, const char *metrics)
{
    static int64_t seq;
    bool inserted = false;
    const struct measurement_row row = {.study = name->study,
                                        .trial = name->trial,
                                        .attempt = name->attempt,
                                        .replica = "master-0",
                                        .writer = 7,
                                        .seq = ++seq,
                                        .step = step,
                                        .time_ms = step,
                                        .metrics = metrics,
                                        .checkpoint = ""};
    CHECK(db_measurement_insert(db, &row, &inserted, NULL) == HT_OK);
    CHECK(inserted);
}

/* --- a case on a database --- */

void db_case_run(void (*test)(struct db_case *c))
{
    struct db_case c = {.arena = arena_new()};
    db_place_open(&c.place);
    CHECK(db_open(c.place.path, &c.db, NULL) == HT_OK);
    CHECK(db_study_insert(c.db, &db_place_study, NULL) == HT_OK);
    test(&c);
    arena_free(c.arena);
    db_close(c.db);
    db_place_close(&c.place);
}
