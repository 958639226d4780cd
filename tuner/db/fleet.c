#include "tuner/db/fleet.h"

#include "tuner/db/internal.h"
#include "tuner/db/states.h"

static void read_attempt(sqlite3_stmt *stmt, struct arena *arena, void *into)
{
    *(struct fleet_attempt *)into =
        (struct fleet_attempt){.study = sqlite3_column_int64(stmt, 0),
                               .trial = sqlite3_column_int64(stmt, 1),
                               .n = sqlite3_column_int64(stmt, 2),
                               .created_ms = sqlite3_column_int64(stmt, 3),
                               .runner = db_column_text(arena, stmt, 4),
                               .project = db_column_text(arena, stmt, 5),
                               .gpus = db_column_text(arena, stmt, 6),
                               .study_name = db_column_text(arena, stmt, 7)};
}

enum ht_status db_fleet_attempts(struct db *db, struct arena *arena,
                                 struct fleet_attempt_list *list,
                                 struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_attempt, &list->n, &list->rows), err,
        "SELECT a.study, a.trial, a.n, a.created_ms, a.runner, s.project, "
        "a.gpus, s.name FROM attempts AS a JOIN studies AS s ON s.id=a.study "
        "WHERE a." ATTEMPT_IS_OPEN " AND (a." ATTEMPT_IS_STARTING
        " OR a." ATTEMPT_IS_RUNNING ") ORDER BY a.study, a.trial, a.n",
        "");
}

enum ht_status db_study_open_at(struct db *db, int64_t study,
                                const char *runner, int64_t *n,
                                struct ht_error *err)
{
    return db_ask_integer(db, n, err,
                          "SELECT count(*) FROM attempts WHERE runner=? AND "
                          "study=? AND " ATTEMPT_IS_OPEN,
                          "si", runner, study);
}

enum ht_status db_attempt_set_gpus(struct db *db, const struct attempt_row *row,
                                   const char *gpus, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET gpus=? WHERE study=? AND trial=? AND "
                  "n=?",
                  "siii", gpus, row->study, row->trial, row->n);
}

enum ht_status db_attempt_set_moving(struct db *db,
                                     const struct attempt_row *row,
                                     struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET moving=1 WHERE study=? AND trial=? AND "
                  "n=?",
                  "iii", row->study, row->trial, row->n);
}

/* --- projects --- */

#define PROJECT_COLUMNS                                                        \
    "name, share, most_slots, most_gpus, usage, usage_ms, trials, trial_s"

static void read_project(sqlite3_stmt *stmt, struct arena *arena, void *into)
{
    *(struct project_row *)into =
        (struct project_row){.name = db_column_text(arena, stmt, 0),
                             .share = sqlite3_column_double(stmt, 1),
                             .most_slots = sqlite3_column_int64(stmt, 2),
                             .most_gpus = sqlite3_column_double(stmt, 3),
                             .usage = sqlite3_column_double(stmt, 4),
                             .usage_ms = sqlite3_column_int64(stmt, 5),
                             .trials = sqlite3_column_double(stmt, 6),
                             .trial_s = sqlite3_column_double(stmt, 7)};
}

enum ht_status db_project_list(struct db *db, struct arena *arena,
                               struct project_list *list, struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_project, &list->n, &list->rows), err,
        "SELECT " PROJECT_COLUMNS " FROM projects ORDER BY name", "");
}

enum ht_status db_project_get(struct db *db, struct arena *arena,
                              const char *name, struct project_row *row,
                              struct ht_error *err)
{
    const struct db_one one = {
        .arena = arena, .read = read_project, .row = row};
    *row = (struct project_row){.name = name, .share = 1};
    return db_ask_one(db, &one, err,
                      "SELECT " PROJECT_COLUMNS " FROM projects WHERE name=?",
                      "s", name);
}

enum ht_status db_project_save(struct db *db, const struct project_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT OR REPLACE INTO projects(" PROJECT_COLUMNS
                  ") VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                  "sdiddidd", row->name, row->share, row->most_slots,
                  row->most_gpus, row->usage, row->usage_ms, row->trials,
                  row->trial_s);
}

static void read_name(sqlite3_stmt *stmt, struct arena *arena, void *into)
{
    *(const char **)into = db_column_text(arena, stmt, 0);
}

enum ht_status db_project_names(struct db *db, struct arena *arena,
                                struct strings *names, struct ht_error *err)
{
    const char **items = NULL;
    const enum ht_status status =
        db_ask_list(db, DB_LIST(arena, read_name, &names->n, &items), err,
                    "SELECT project FROM studies WHERE " STUDY_IS_SHOWN
                    " UNION SELECT name FROM projects ORDER BY 1",
                    "");
    names->items = items;
    return status;
}

/* --- runners --- */

enum ht_status db_runner_set_drain(struct db *db, const char *id,
                                   enum runner_drain drain,
                                   struct ht_error *err)
{
    return db_run(db, err, "UPDATE runners SET drain=? WHERE id=?", "is",
                  (int64_t)drain, id);
}
