#include "tuner/db_front.h"

#include "tuner/db_internal.h"

/* Columns are named one by one: a migration reads them, too, when later ones
 * are not there yet. */
#define RESULTS(index)                                                         \
    "SELECT id, objective, final_metrics FROM trials " index                   \
    " WHERE study=?1 AND state IN (4, 5) AND confirms=0 "                      \
    "AND objective IS NOT NULL AND final_metrics IS NOT NULL "
/* By itself SQLite looks through all trials: it takes them for as few. */
#define MARKED "INDEXED BY trials_optimal"

static enum ht_status read_rows(struct db *db, struct arena *arena,
                                sqlite3_stmt *stmt, struct front_rows *list,
                                struct ht_error *err)
{
    struct front_row *rows = NULL;
    size_t n = 0;
    bool row = true;
    enum ht_status status;
    while ((status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        rows = db_grow(arena, rows, n, sizeof *rows);
        rows[n++] =
            (struct front_row){.id = sqlite3_column_int64(stmt, 0),
                               .objective = sqlite3_column_double(stmt, 1),
                               .metrics = db_column_text(arena, stmt, 2)};
    }
    if (status == HT_OK)
        *list = (struct front_rows){n, rows};
    return status;
}

enum ht_status db_front_marked(struct db *db, struct arena *arena,
                               int64_t study, struct front_rows *list,
                               struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err, RESULTS(MARKED) "AND optimal=1 ORDER BY id",
                 "i", study);
    return status == HT_OK ? read_rows(db, arena, stmt, list, err) : status;
}

enum ht_status db_front_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t after,
                                struct front_rows *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err, RESULTS("") "AND id>?2 ORDER BY id LIMIT ?3",
                 "iii", study, after, (int64_t)DB_FRONT_PAGE);
    return status == HT_OK ? read_rows(db, arena, stmt, list, err) : status;
}

enum ht_status db_front_mark(struct db *db, int64_t study, int64_t trial,
                             bool marked, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET optimal=?3 WHERE study=?1 AND id=?2",
                  "iii", study, trial, (int64_t)marked);
}

enum ht_status db_front_is_marked(struct db *db, int64_t study, int64_t trial,
                                  bool *marked, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status = db_query(db, &stmt, err,
                                     "SELECT 1 FROM trials " MARKED
                                     " WHERE study=? AND id=? AND optimal=1",
                                     "ii", study, trial);
    if (status == HT_OK)
        status = db_step(db, stmt, marked, err);
    if (status == HT_OK && *marked)
        db_done(stmt);
    return status;
}

enum ht_status db_front_clear(struct db *db, int64_t study,
                              struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials " MARKED
                  " SET optimal=0 WHERE study=? AND optimal=1",
                  "i", study);
}

enum ht_status db_front_studies(struct db *db, struct arena *arena,
                                struct front_studies *list,
                                struct ht_error *err)
{
    sqlite3_stmt *stmt;
    struct front_study *rows = NULL;
    size_t n = 0;
    enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT id, spec FROM studies WHERE json_valid(spec) "
        "AND json_array_length(spec, '$.studySpec.metrics')>1 ORDER BY id",
        "");
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        rows = db_grow(arena, rows, n, sizeof *rows);
        rows[n++] = (struct front_study){sqlite3_column_int64(stmt, 0),
                                         db_column_text(arena, stmt, 1)};
    }
    if (status == HT_OK)
        *list = (struct front_studies){n, rows};
    return status;
}
