#include "tuner/db_curve.h"

#include "proto/limits.h"
#include "tuner/db_internal.h"

/* REQUESTED ones that ran before wait to go on. */
enum ht_status db_curve_trials(struct db *db, struct arena *arena,
                               int64_t study, size_t limit,
                               struct trial_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                 "WHERE study=? AND state NOT IN (0, 6, 7, 8) AND confirms=0 "
                 "AND started_ms>0 ORDER BY id DESC LIMIT ?",
                 "ii", study, (int64_t)limit);
    return status == HT_OK ? db_all_trials(db, arena, stmt, list, err) : status;
}

enum ht_status db_curve_records(struct db *db, struct arena *arena,
                                const struct trial_row *trial,
                                const char *master,
                                struct measurement_list *list,
                                struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT " DB_MEASUREMENT_COLUMNS " FROM measurements "
        "WHERE study=? AND trial=? AND replica IN (?, 'client') "
        "ORDER BY attempt, step, time_ms, writer, seq LIMIT ?",
        "iisi", trial->study, trial->id, master, (int64_t)HT_MAX_REPORTS);
    struct measurement_list found = {0};
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.rows = db_grow(arena, found.rows, found.n, sizeof *found.rows);
        db_read_measurement(stmt, arena, &found.rows[found.n++]);
    }
    if (status == HT_OK)
        *list = found;
    return status;
}
