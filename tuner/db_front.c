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

static void read_result(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct front_row *)row =
        (struct front_row){.id = sqlite3_column_int64(stmt, 0),
                           .objective = sqlite3_column_double(stmt, 1),
                           .metrics = db_column_text(arena, stmt, 2)};
}

enum ht_status db_front_marked(struct db *db, struct arena *arena,
                               int64_t study, struct front_rows *list,
                               struct ht_error *err)
{
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->rows, .read = read_result};
    const enum ht_status status =
        db_ask_rows(db, &found, err,
                    RESULTS(MARKED) "AND optimal=1 ORDER BY id", "i", study);
    if (status == HT_OK)
        *list = (struct front_rows){found.n, found.items};
    return status;
}

enum ht_status db_front_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t after,
                                struct front_rows *list, struct ht_error *err)
{
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->rows, .read = read_result};
    const enum ht_status status = db_ask_rows(
        db, &found, err, RESULTS("") "AND id>?2 ORDER BY id LIMIT ?3", "iii",
        study, after, (int64_t)DB_FRONT_PAGE);
    if (status == HT_OK)
        *list = (struct front_rows){found.n, found.items};
    return status;
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
    return db_ask_bool(db, marked, err,
                       "SELECT 1 FROM trials " MARKED
                       " WHERE study=? AND id=? AND optimal=1",
                       "ii", study, trial);
}

enum ht_status db_front_clear(struct db *db, int64_t study,
                              struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials " MARKED
                  " SET optimal=0 WHERE study=? AND optimal=1",
                  "i", study);
}

static void read_study(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct front_study *)row = (struct front_study){
        sqlite3_column_int64(stmt, 0), db_column_text(arena, stmt, 1)};
}

enum ht_status db_front_studies(struct db *db, struct arena *arena,
                                struct front_studies *list,
                                struct ht_error *err)
{
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->rows, .read = read_study};
    const enum ht_status status = db_ask_rows(
        db, &found, err,
        "SELECT id, spec FROM studies WHERE json_valid(spec) "
        "AND json_array_length(spec, '$.studySpec.metrics')>1 ORDER BY id",
        "");
    if (status == HT_OK)
        *list = (struct front_studies){found.n, found.items};
    return status;
}
