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

/* --- curves to be looked at --- */

static enum ht_status best_trials(struct db *db, struct arena *arena,
                                  const struct curve_choice *choice,
                                  struct trial_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                 "WHERE study=? AND state IN (4, 5) AND confirms=0 "
                 "AND objective IS NOT NULL ORDER BY ? * objective, id LIMIT ?",
                 "iii", choice->study, (int64_t)(choice->maximize ? -1 : 1),
                 (int64_t)choice->top);
    return status == HT_OK ? db_all_trials(db, arena, stmt, list, err) : status;
}

static enum ht_status running_trials(struct db *db, struct arena *arena,
                                     const struct curve_choice *choice,
                                     struct trial_list *list,
                                     struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                 "WHERE study=? AND state IN (2, 3, 9) AND confirms=0 "
                 "ORDER BY id DESC LIMIT ?",
                 "ii", choice->study, (int64_t)choice->running);
    return status == HT_OK ? db_all_trials(db, arena, stmt, list, err) : status;
}

enum ht_status db_curve_choose(struct db *db, struct arena *arena,
                               const struct curve_choice *choice,
                               struct trial_list *list, struct ht_error *err)
{
    struct trial_list best = {0}, running = {0};
    enum ht_status status = best_trials(db, arena, choice, &best, err);
    if (status == HT_OK)
        status = running_trials(db, arena, choice, &running, err);
    if (status != HT_OK)
        return status;
    *list = (struct trial_list){
        .rows = arena_alloc(arena, best.n + running.n + 1, sizeof *list->rows)};
    for (size_t i = 0; i < best.n; i++)
        list->rows[list->n++] = best.rows[i];
    for (size_t i = 0; i < running.n; i++)
        list->rows[list->n++] = running.rows[i];
    return HT_OK;
}

/* The database thins: of a long curve most records are never decoded here. A
 * point is kept where the count of kept ones, spread evenly over n - 1 steps,
 * grows. */
static const char points_query[] =
    "WITH read AS MATERIALIZED ("
    " SELECT attempt, step, time_ms, writer, seq, metrics -> ?1 AS value"
    " FROM measurements WHERE study=?2 AND trial=?3"
    " AND replica IN (?4, 'client')), "
    "told AS (SELECT * FROM read"
    " WHERE json_type(value) IN ('integer', 'real')), "
    "begun AS (SELECT attempt, MIN(step) AS step FROM told GROUP BY attempt), "
    "valid AS (SELECT step, value, ROW_NUMBER() OVER (PARTITION BY step"
    " ORDER BY attempt DESC, time_ms DESC, writer DESC, seq DESC) AS again"
    " FROM told WHERE NOT EXISTS (SELECT 1 FROM begun WHERE"
    " begun.attempt > told.attempt AND begun.step <= told.step)), "
    "curve AS (SELECT step, value, ROW_NUMBER() OVER (ORDER BY step) - 1 AS i,"
    " COUNT(*) OVER () - 1 AS last FROM valid WHERE again=1) "
    "SELECT step, CAST(value AS REAL) FROM curve WHERE i=0 OR last < ?5 "
    "OR i * (?5 - 1) / last > (i - 1) * (?5 - 1) / last ORDER BY step";

enum ht_status db_curve_points(struct db *db, struct arena *arena,
                               const struct curve_question *question,
                               struct curve_points *points,
                               struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const struct trial_row *trial = question->trial;
    enum ht_status status = db_query(
        db, &stmt, err, points_query, "siisi",
        arena_printf(arena, "$.\"%s\"", question->metric), trial->study,
        trial->id, question->master, (int64_t)question->most);
    struct curve_points found = {0};
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.points =
            db_grow(arena, found.points, found.n, sizeof *found.points);
        found.points[found.n++] = (struct curve_point){
            sqlite3_column_int64(stmt, 0), sqlite3_column_double(stmt, 1)};
    }
    if (status == HT_OK)
        *points = found;
    return status;
}
