#include "tuner/db_prior.h"

#include "tuner/db_internal.h"

/* More than a model looks at (algorithms/history.h), so what is left out is
 * not missed, and copying never holds up the core for long. */
#define BEST "2000"
#define NEWEST "1000"

/* Of a stop only what was foretold matters, not the curve that told it. */
#define STOP "iif(json_valid(stop), json_remove(stop, '$.curve'), '')"
/* States with a result: SUCCEEDED, STOPPED, FAILED, INFEASIBLE. */
#define ENDED "study=?1 AND state BETWEEN 4 AND 7"
#define COPY(order)                                                            \
    "INSERT INTO prior_results(study, prior, trial, state, params, "           \
    "objective, final_metrics, final_step, stop) "                             \
    "SELECT ?2, ?3, id, state, params, objective, final_metrics, "             \
    "final_step, " STOP " FROM trials WHERE study=?1 AND id IN ("              \
    "SELECT * FROM (SELECT id FROM trials WHERE " ENDED                        \
    " AND objective IS NOT NULL ORDER BY objective " order ", id LIMIT " BEST  \
    ") UNION SELECT * FROM (SELECT id FROM trials WHERE " ENDED                \
    " ORDER BY id DESC LIMIT " NEWEST "))"

enum ht_status db_prior_insert(struct db *db, const struct prior_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO priors(study, n, origin, resource, name, spec, "
                  "same, shared, results) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  "iiisssiii", row->study, row->n, row->origin, row->resource,
                  row->name, row->spec, (int64_t)row->same, row->shared,
                  row->results);
}

enum ht_status db_prior_copy(struct db *db, const struct prior_row *row,
                             bool maximize, struct ht_error *err)
{
    static const char highest[] = COPY("DESC");
    static const char lowest[] = COPY("ASC");
    return db_run(db, err, maximize ? highest : lowest, "iii", row->origin,
                  row->study, row->n);
}

static void read_prior(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct prior_row *)row =
        (struct prior_row){.study = sqlite3_column_int64(stmt, 0),
                           .n = sqlite3_column_int64(stmt, 1),
                           .origin = sqlite3_column_int64(stmt, 2),
                           .resource = db_column_text(arena, stmt, 3),
                           .name = db_column_text(arena, stmt, 4),
                           .spec = db_column_text(arena, stmt, 5),
                           .same = sqlite3_column_int(stmt, 6) != 0,
                           .shared = sqlite3_column_int64(stmt, 7),
                           .results = sqlite3_column_int64(stmt, 8)};
}

enum ht_status db_prior_list(struct db *db, struct arena *arena, int64_t study,
                             struct prior_list *list, struct ht_error *err)
{
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->rows, .read = read_prior};
    const enum ht_status status = db_ask_rows(
        db, &found, err,
        "SELECT study, n, origin, resource, name, spec, same, shared, "
        "results FROM priors WHERE study=? ORDER BY n",
        "i", study);
    if (status == HT_OK)
        *list = (struct prior_list){found.n, found.items};
    return status;
}

static void read_result(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct trial_row *)row = (struct trial_row){
        .study = sqlite3_column_int64(stmt, 0),
        .id = sqlite3_column_int64(stmt, 1),
        .state = (enum trial_state)sqlite3_column_int(stmt, 2),
        .params = db_column_text(arena, stmt, 3),
        .has_objective = sqlite3_column_type(stmt, 4) != SQLITE_NULL,
        .objective = sqlite3_column_double(stmt, 4),
        .final_metrics = db_column_text(arena, stmt, 5),
        .final_step = sqlite3_column_int64(stmt, 6),
        .stop = db_column_text(arena, stmt, 7)};
}

enum ht_status db_prior_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t n,
                                struct trial_list *list, struct ht_error *err)
{
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->rows, .read = read_result};
    const enum ht_status status =
        db_ask_rows(db, &found, err,
                    "SELECT study, trial, state, params, objective, "
                    "final_metrics, final_step, stop FROM prior_results "
                    "WHERE study=? AND prior=? ORDER BY trial",
                    "ii", study, n);
    if (status == HT_OK)
        *list = (struct trial_list){found.n, found.items};
    return status;
}
