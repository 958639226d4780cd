#include "tuner/db/prior.h"

#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"

/* Points that were tried are not tried again, as far as they are copied; and
 * copying must not block the core for long. */
#define BEST "2000"
#define NEWEST "20000"

/* Of a stop only the prediction matters, not its curve. */
#define STOP "iif(json_valid(stop), json_remove(stop, '$.curve'), '')"
#define ENDED "study=?1 AND " TRIAL_TEACHES
/* Its newest attempt. */
#define ATTEMPT                                                                \
    "EXISTS(SELECT 1 FROM attempts AS a WHERE a.study=t.study AND "            \
    "a.trial=t.id AND a.n=t.attempt AND "
/* FAILED by lost machines or before the start; INFEASIBLE without a report in a
 * study that never had one. */
#define LOST                                                                   \
    "(state=" SQL(TRIAL_FAILED) " AND " ATTEMPT "(a.outcome=" SQL(             \
        OUTCOME_LOST) " OR a.started_ms=0)))"
#define UNHEARD                                                                \
    "(state=" SQL(TRIAL_INFEASIBLE) " AND " ATTEMPT "a.doctor<>'') AND NOT "   \
                                    "EXISTS(SELECT 1 FROM trials WHERE "       \
                                    "study=?1 AND objective IS NOT NULL))"
#define BLAMELESS LOST " OR " UNHEARD
#define COPY(order)                                                            \
    "INSERT INTO prior_results(study, prior, trial, state, params, "           \
    "objective, final_metrics, final_step, stop) "                             \
    "SELECT ?2, ?3, id, state, params, objective, final_metrics, "             \
    "final_step, " STOP " FROM trials AS t WHERE study=?1 AND id IN ("         \
    "SELECT * FROM (SELECT id FROM trials WHERE " ENDED                        \
    " AND objective IS NOT NULL ORDER BY objective " order ", id LIMIT " BEST  \
    ") UNION SELECT * FROM (SELECT id FROM trials WHERE " ENDED                \
    " ORDER BY id DESC LIMIT " NEWEST ")) AND NOT (" BLAMELESS ")"

enum ht_status db_prior_insert(struct db *db, const struct prior_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO priors(study, n, origin, resource, name, spec, "
                  "same, shared, results, failures, own, inherited) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  "iiisssiiiiii", row->study, row->n, row->origin,
                  row->resource, row->name, row->spec, (int64_t)row->same,
                  row->shared, row->results, row->failures, row->own,
                  (int64_t)row->inherited);
}

enum ht_status db_prior_copy(struct db *db, const struct prior_row *row,
                             bool maximize, struct ht_error *err)
{
    static const char highest[] = COPY("DESC");
    static const char lowest[] = COPY("ASC");
    return db_run(db, err, maximize ? highest : lowest, "iii", row->origin,
                  row->study, row->n);
}

enum ht_status db_prior_inherit(struct db *db, const struct prior_row *row,
                                int64_t from, int64_t n, struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT OR IGNORE INTO prior_results(study, prior, trial, "
                  "state, params, objective, final_metrics, final_step, stop) "
                  "SELECT ?1, ?2, trial, state, params, objective, "
                  "final_metrics, final_step, stop FROM prior_results "
                  "WHERE study=?3 AND prior=?4",
                  "iiii", row->study, row->n, from, n);
}

enum ht_status db_prior_own(struct db *db, const struct prior_row *row,
                            const struct prior_trial *own, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE prior_results SET point=? "
                  "WHERE study=? AND prior=? AND trial=?",
                  "siii", own->point, row->study, row->n, own->trial.id);
}

enum ht_status db_prior_drop(struct db *db, const struct prior_row *row,
                             int64_t trial, struct ht_error *err)
{
    return db_run(db, err,
                  "DELETE FROM prior_results "
                  "WHERE study=? AND prior=? AND trial=?",
                  "iii", row->study, row->n, trial);
}

enum ht_status db_prior_tried(struct db *db, int64_t study, int64_t *points,
                              struct ht_error *err)
{
    return db_ask_integer(
        db, points, err,
        "SELECT count(*) FROM (SELECT point FROM prior_results WHERE study=?1 "
        "AND point IS NOT NULL EXCEPT SELECT params FROM trials "
        "WHERE study=?1)",
        "i", study);
}

enum ht_status db_prior_measured(struct db *db, int64_t study, bool *measured,
                                 struct ht_error *err)
{
    return db_ask_bool(db, measured, err,
                       "SELECT EXISTS(SELECT 1 FROM prior_results WHERE "
                       "study=? AND point IS NOT NULL AND objective IS NOT "
                       "NULL)",
                       "i", study);
}

static void read_prior(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    DB_READ_ROW(prior_row, DB_PRIOR_LIST)
}

enum ht_status db_prior_list(struct db *db, struct arena *arena, int64_t study,
                             struct prior_list *list, struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_prior, &list->n, &list->rows), err,
        "SELECT " DB_PRIOR_COLUMNS " FROM priors WHERE study=? ORDER BY n", "i",
        study);
}

static void read_result(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct prior_trial *)row = (struct prior_trial){
        .trial = {.study = sqlite3_column_int64(stmt, 0),
                  .id = sqlite3_column_int64(stmt, 1),
                  .state = (enum trial_state)sqlite3_column_int(stmt, 2),
                  .params = db_column_text(arena, stmt, 3),
                  .has_objective = sqlite3_column_type(stmt, 4) != SQLITE_NULL,
                  .objective = sqlite3_column_double(stmt, 4),
                  .final_metrics = db_column_text(arena, stmt, 5),
                  .final_step = sqlite3_column_int64(stmt, 6),
                  .stop = db_column_text(arena, stmt, 7)},
        .point = db_column_text(arena, stmt, 8)};
}

enum ht_status db_prior_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t n,
                                struct prior_trial_list *list,
                                struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_result, &list->n, &list->rows), err,
        "SELECT study, trial, state, params, objective, "
        "final_metrics, final_step, stop, point FROM prior_results "
        "WHERE study=? AND prior=? ORDER BY trial",
        "ii", study, n);
}
