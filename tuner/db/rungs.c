#include "tuner/db/rungs.h"

#include "tuner/db/internal.h"
#include "tuner/db/states.h"

static void add_rung(sqlite3_stmt *stmt, struct arena *arena, void *into)
{
    struct rung_trial_list *list = into;
    const int64_t trial = sqlite3_column_int64(stmt, 0);
    if (list->n == 0 || list->rows[list->n - 1].trial != trial) {
        list->rows = db_grow(arena, list->rows, list->n, sizeof *list->rows);
        list->rows[list->n++] = (struct rung_trial){
            .trial = trial,
            .ordinal = sqlite3_column_int64(stmt, 1),
            .rungs_passed = sqlite3_column_int64(stmt, 2),
            .state = (enum trial_state)sqlite3_column_int(stmt, 3)};
    }
    struct rung_trial *row = &list->rows[list->n - 1];
    row->rungs = db_grow(arena, row->rungs, row->n, sizeof *row->rungs);
    row->rungs[row->n++] =
        (struct rung_row){.trial = trial,
                          .rung = sqlite3_column_int64(stmt, 4),
                          .at = sqlite3_column_double(stmt, 5),
                          .goals = db_column_text(arena, stmt, 6)};
}

enum ht_status db_rung_trials(struct db *db, struct arena *arena, int64_t study,
                              struct rung_trial_list *list,
                              struct ht_error *err)
{
    struct rung_trial_list found = {0};
    const struct db_one each = {arena, add_rung, &found, NULL};
    const enum ht_status status = db_ask_each(
        db, &each, err,
        "SELECT t.id, t.ordinal, t.rungs_passed, t.state, r.rung, r.place, "
        "r.goals FROM rungs AS r JOIN trials AS t "
        "ON t.study=r.study AND t.id=r.trial "
        "WHERE r.study=? AND t." TRIAL_SEARCHES " ORDER BY r.trial, r.rung",
        "i", study);
    if (status == HT_OK)
        *list = found;
    return status;
}

enum ht_status db_rung_set(struct db *db, const struct rung_row *row,
                           struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT OR REPLACE INTO rungs(study, trial, rung, place, "
                  "goals) VALUES(?, ?, ?, ?, ?)",
                  "iiios", row->study, row->trial, row->rung, &row->at,
                  row->goals);
}

enum ht_status db_rung_clear(struct db *db, int64_t study, int64_t trial,
                             struct ht_error *err)
{
    return db_run(db, err, "DELETE FROM rungs WHERE study=? AND trial=?", "ii",
                  study, trial);
}

enum ht_status db_trial_set_rungs_passed(struct db *db,
                                         const struct trial_row *row,
                                         struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET rungs_passed=?3 WHERE study=?1 AND id=?2",
                  "iii", row->study, row->id, row->rungs_passed);
}

static void read_stops(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    (void)arena;
    *(struct rung_stops *)row =
        (struct rung_stops){.all = sqlite3_column_int64(stmt, 0),
                            .first = sqlite3_column_int64(stmt, 1)};
}

enum ht_status db_rung_stops(struct db *db, int64_t study,
                             struct rung_stops *stops, struct ht_error *err)
{
    const struct db_one one = {.read = read_stops, .row = stops};
    return db_ask_one(db, &one, err,
                      "SELECT count(*), total(rungs_passed=0) FROM trials "
                      "WHERE study=? AND " TRIAL_STOPPED_EARLY,
                      "i", study);
}
