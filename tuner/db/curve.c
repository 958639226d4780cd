#include "tuner/db/curve.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/limits.h"
#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"

enum { NAMING_RECORDS = 1000 };

/* The newest trials of a study that a condition holds for. */
#define NEWEST_TRIALS(condition)                                               \
    "SELECT " DB_TRIAL_COLUMNS " FROM trials "                                 \
    "WHERE study=? AND " TRIAL_SEARCHES " AND " condition                      \
    " ORDER BY id DESC LIMIT ?"

/* REQUESTED ones that ran before wait to continue. */
enum ht_status db_curve_trials(struct db *db, struct arena *arena,
                               int64_t study, size_t limit,
                               struct trial_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_TRIALS(arena, list), err,
                       NEWEST_TRIALS(TRIAL_IS_SHOWN
                                     " AND NOT " TRIAL_IS_FAILED
                                     " AND NOT " TRIAL_IS_CANCELLED
                                     " AND started_ms>0"),
                       "ii", study, (int64_t)limit);
}

enum ht_status db_curve_records(struct db *db, struct arena *arena,
                                const struct trial_row *trial,
                                const char *master,
                                struct measurement_list *list,
                                struct ht_error *err)
{
    return db_ask_list(db, DB_MEASUREMENTS(arena, list), err,
                       "SELECT " DB_MEASUREMENT_COLUMNS " FROM measurements "
                       "WHERE study=? AND trial=? AND replica IN (?, 'client') "
                       "ORDER BY attempt, step, time_ms, writer, seq LIMIT ?",
                       "iisi", trial->study, trial->id, master,
                       (int64_t)HT_MAX_REPORTS);
}

/* --- curves to show --- */

static enum ht_status best_trials(struct db *db, struct arena *arena,
                                  const struct curve_choice *choice,
                                  struct trial_list *list, struct ht_error *err)
{
    return db_ask_list(
        db, DB_TRIALS(arena, list), err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials "
        "WHERE study=? AND " TRIAL_HAS_RESULT " AND " TRIAL_SEARCHES " "
        "AND objective IS NOT NULL ORDER BY ? * objective, id LIMIT ?",
        "iii", choice->study, (int64_t)(choice->maximize ? -1 : 1),
        (int64_t)choice->top);
}

enum ht_status db_curve_choose(struct db *db, struct arena *arena,
                               const struct curve_choice *choice,
                               struct trial_list *list, struct ht_error *err)
{
    struct trial_list kinds[3] = {0};
    enum ht_status status = best_trials(db, arena, choice, &kinds[0], err);
    if (status == HT_OK)
        status = db_ask_list(db, DB_TRIALS(arena, &kinds[1]), err,
                             NEWEST_TRIALS(TRIAL_IS_UNDER_WAY), "ii",
                             choice->study, (int64_t)choice->running);
    if (status == HT_OK)
        status = db_ask_list(db, DB_TRIALS(arena, &kinds[2]), err,
                             NEWEST_TRIALS(TRIAL_IS_FAILED), "ii",
                             choice->study, (int64_t)choice->failed);
    if (status != HT_OK)
        return status;
    *list = (struct trial_list){
        .rows = arena_alloc(arena, kinds[0].n + kinds[1].n + kinds[2].n + 1,
                            sizeof *list->rows)};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < kinds[k].n; i++)
            list->rows[list->n++] = kinds[k].rows[i];
    return HT_OK;
}

/* A later attempt continues from a checkpoint or starts again: steps that it
 * repeats are replaced. Of one step the newest value counts. */
static void take_point(struct curve_points *curve, struct arena *arena,
                       bool further, struct curve_point point)
{
    while (further && curve->n > 0 &&
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
static void thin(struct curve_point *points, size_t *n, size_t most)
{
    const size_t last = *n == 0 ? 0 : *n - 1;
    size_t kept = 0;
    if (*n <= most)
        return;
    for (size_t i = 0; i < *n; i++)
        if (i == 0 || i * (most - 1) / last > (i - 1) * (most - 1) / last)
            points[kept++] = points[i];
    *n = kept;
}

/* Moves points that are not finite from `points` to `odd`. */
static void set_odd_apart(struct curve_points *curve, struct arena *arena)
{
    const size_t n = curve->n;
    curve->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct curve_point point = curve->points[i];
        if (isfinite(point.value)) {
            curve->points[curve->n++] = point;
            continue;
        }
        curve->odd = db_grow(arena, curve->odd, curve->n_odd, sizeof point);
        curve->odd[curve->n_odd++] = point;
    }
}

/* NaN and infinities are stored as texts, which strtod() reads. */
static double read_value(sqlite3_stmt *stmt, int column)
{
    if (sqlite3_column_type(stmt, column) != SQLITE_TEXT)
        return sqlite3_column_double(stmt, column);
    return strtod(db_column_bytes(stmt, column), NULL);
}

struct drawing {
    struct curve_points curve;
    int64_t attempt; /* of the last point; -1: there is none */
};

static void draw_point(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct drawing *drawing = row;
    const int64_t attempt = sqlite3_column_int64(stmt, 0);
    if (sqlite3_column_type(stmt, 2) == SQLITE_NULL)
        return;
    take_point(&drawing->curve, arena, attempt != drawing->attempt,
               (struct curve_point){sqlite3_column_int64(stmt, 1),
                                    read_value(stmt, 2)});
    drawing->attempt = attempt;
}

enum ht_status db_curve_points(struct db *db, struct arena *arena,
                               const struct curve_question *question,
                               struct curve_points *points,
                               struct ht_error *err)
{
    struct drawing drawing = {.attempt = -1};
    struct curve_points *curve = &drawing.curve;
    const struct db_one each = {arena, draw_point, &drawing, NULL};
    const enum ht_status status =
        db_ask_each(db, &each, err,
                    "SELECT attempt, step, "
                    "(SELECT value FROM json_each(metrics) WHERE key=?) "
                    "FROM measurements "
                    "WHERE study=? AND trial=? AND replica IN (?, 'client') "
                    "ORDER BY attempt, step, time_ms, writer, seq",
                    "siis", question->metric, question->trial->study,
                    question->trial->id, question->master);
    if (status != HT_OK)
        return status;
    set_odd_apart(curve, arena);
    thin(curve->points, &curve->n, question->most);
    thin(curve->odd, &curve->n_odd, question->most);
    *points = *curve;
    return HT_OK;
}

enum ht_status db_curve_metrics(struct db *db, struct arena *arena,
                                const struct trial_row *trial,
                                const char *master, struct metric_names *names,
                                struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, db_read_text, &names->n, &names->names), err,
        "SELECT DISTINCT key FROM ("
        "SELECT metrics FROM measurements WHERE study=? AND trial=? "
        "AND replica IN (?, 'client') LIMIT ?) AS m, "
        "json_each(m.metrics) ORDER BY key",
        "iisi", trial->study, trial->id, master, (int64_t)NAMING_RECORDS);
}
