#include "tuner/db/trial_usage.h"

#include "tuner/db/internal.h"

enum ht_status db_trial_usage_set(struct db *db,
                                  const struct trial_usage_row *row,
                                  struct ht_error *err)
{
    return db_run(
        db, err,
        "INSERT INTO trial_usage(study, trial, attempt, replica, device, "
        "series) SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT count(*) FROM "
        "trial_usage WHERE study=?1 AND trial=?2 AND attempt=?3 AND NOT "
        "(replica=?4 AND device=?5))<?7 "
        "ON CONFLICT DO UPDATE SET series=excluded.series",
        "iiisssi", row->study, row->trial, row->attempt, row->replica,
        row->device, row->series, (int64_t)DB_MOST_USAGE);
}

static void read_row(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct trial_usage_row *)row =
        (struct trial_usage_row){.study = sqlite3_column_int64(stmt, 0),
                                 .trial = sqlite3_column_int64(stmt, 1),
                                 .attempt = sqlite3_column_int64(stmt, 2),
                                 .replica = db_column_text(arena, stmt, 3),
                                 .device = db_column_text(arena, stmt, 4),
                                 .series = db_column_text(arena, stmt, 5)};
}

enum ht_status db_trial_usage_list(struct db *db, struct arena *arena,
                                   int64_t study, int64_t trial,
                                   struct trial_usage_list *list,
                                   struct ht_error *err)
{
    return db_ask_list(db, DB_LIST(arena, read_row, &list->n, &list->rows), err,
                       "SELECT study, trial, attempt, replica, device, series "
                       "FROM trial_usage WHERE study=? AND trial=? "
                       "ORDER BY attempt DESC, replica, device LIMIT ?",
                       "iii", study, trial, (int64_t)DB_USAGE_LISTED);
}
