#include "tuner/db_curve.h"

#include "proto/limits.h"
#include "tuner/db_internal.h"

/* REQUESTED ones that ran before wait to go on. */
enum ht_status db_curve_trials(struct db *db, struct arena *arena,
                               int64_t study, size_t limit,
                               struct trial_list *list, struct ht_error *err)
{
    return db_ask_trials(
        db, arena, list, err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials "
        "WHERE study=? AND state NOT IN (0, 6, 7, 8) AND confirms=0 "
        "AND started_ms>0 ORDER BY id DESC LIMIT ?",
        "ii", study, (int64_t)limit);
}

enum ht_status db_curve_records(struct db *db, struct arena *arena,
                                const struct trial_row *trial,
                                const char *master,
                                struct measurement_list *list,
                                struct ht_error *err)
{
    struct db_rows found = {.arena = arena,
                            .size = sizeof *list->rows,
                            .read = db_read_measurement};
    const enum ht_status status = db_ask_rows(
        db, &found, err,
        "SELECT " DB_MEASUREMENT_COLUMNS " FROM measurements "
        "WHERE study=? AND trial=? AND replica IN (?, 'client') "
        "ORDER BY attempt, step, time_ms, writer, seq LIMIT ?",
        "iisi", trial->study, trial->id, master, (int64_t)HT_MAX_REPORTS);
    if (status == HT_OK)
        *list = (struct measurement_list){found.n, found.items};
    return status;
}

/* --- curves to be looked at --- */

static enum ht_status best_trials(struct db *db, struct arena *arena,
                                  const struct curve_choice *choice,
                                  struct trial_list *list, struct ht_error *err)
{
    return db_ask_trials(
        db, arena, list, err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials "
        "WHERE study=? AND state IN (4, 5) AND confirms=0 "
        "AND objective IS NOT NULL ORDER BY ? * objective, id LIMIT ?",
        "iii", choice->study, (int64_t)(choice->maximize ? -1 : 1),
        (int64_t)choice->top);
}

static enum ht_status running_trials(struct db *db, struct arena *arena,
                                     const struct curve_choice *choice,
                                     struct trial_list *list,
                                     struct ht_error *err)
{
    return db_ask_trials(db, arena, list, err,
                         "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                         "WHERE study=? AND state IN (2, 3, 9) AND confirms=0 "
                         "ORDER BY id DESC LIMIT ?",
                         "ii", choice->study, (int64_t)choice->running);
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

/* A further attempt goes on from a checkpoint or begins anew: what it measures
 * again is void. Of one step the newest value counts. */
static void take_point(struct curve_points *curve, struct arena *arena,
                       bool anew, struct curve_point point)
{
    while (anew && curve->n > 0 &&
           curve->points[curve->n - 1].step >= point.step)
        curve->n--;
    if (curve->n == 0 || curve->points[curve->n - 1].step != point.step) {
        curve->points =
            db_grow(arena, curve->points, curve->n, sizeof *curve->points);
        curve->n++;
    }
    curve->points[curve->n - 1] = point;
}

/* Keeps a point where the count of kept ones, spread evenly, grows. */
static void thin(struct curve_points *curve, size_t most)
{
    const size_t last = curve->n == 0 ? 0 : curve->n - 1;
    size_t kept = 0;
    if (curve->n <= most)
        return;
    for (size_t i = 0; i < curve->n; i++)
        if (i == 0 || i * (most - 1) / last > (i - 1) * (most - 1) / last)
            curve->points[kept++] = curve->points[i];
    curve->n = kept;
}

enum ht_status db_curve_points(struct db *db, struct arena *arena,
                               const struct curve_question *question,
                               struct curve_points *points,
                               struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const struct trial_row *trial = question->trial;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT attempt, step, metrics ->> ? FROM measurements "
                 "WHERE study=? AND trial=? AND replica IN (?, 'client') "
                 "ORDER BY attempt, step, time_ms, writer, seq",
                 "siis", arena_printf(arena, "$.\"%s\"", question->metric),
                 trial->study, trial->id, question->master);
    struct curve_points curve = {0};
    int64_t before = -1;
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        const int type = sqlite3_column_type(stmt, 2);
        const int64_t attempt = sqlite3_column_int64(stmt, 0);
        if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
            continue;
        take_point(&curve, arena, attempt != before,
                   (struct curve_point){sqlite3_column_int64(stmt, 1),
                                        sqlite3_column_double(stmt, 2)});
        before = attempt;
    }
    if (status != HT_OK)
        return status;
    thin(&curve, question->most);
    *points = curve;
    return HT_OK;
}
