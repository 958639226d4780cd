#include "tuner/db_internal.h"
#include "tuner/db_write.h"

enum ht_status db_study_by_display(struct db *db, struct arena *arena,
                                   const struct study_scope *scope,
                                   const char *display, struct study_row *row,
                                   struct ht_error *err)
{
    sqlite3_stmt *stmt;
    /* Names of jobs need not be unique: a study that others run comes first,
     * then the newest. */
    enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT " DB_STUDY_COLUMNS " FROM studies WHERE project=? "
        "AND location=? AND display=? AND state<>8 AND (? >> kind) & 1 "
        "ORDER BY kind=1 DESC, id DESC LIMIT 1",
        "sssi", scope->project, scope->location, display,
        (int64_t)scope->kinds);
    bool found = false;
    if (status == HT_OK)
        status = db_step(db, stmt, &found, err);
    if (status != HT_OK)
        return status;
    if (!found)
        return ht_fail(err, HT_NOT_FOUND, "there is no study \"%.150s\"",
                       display);
    db_read_study(stmt, arena, row);
    db_done(stmt);
    return HT_OK;
}

enum ht_status db_trial_next_replicate(struct db *db, int64_t study,
                                       const char *params, int64_t *replicate,
                                       struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT max(replicate)+1 FROM trials WHERE study=? AND params=?", "is",
        study, params);
    return status == HT_OK ? db_integer(db, stmt, 0, replicate, err) : status;
}

enum ht_status db_trial_of_client(struct db *db, struct arena *arena,
                                  int64_t study, const char *client,
                                  struct trial_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    /* Few are active, while a client may have evaluated many. */
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_TRIAL_COLUMNS " FROM trials INDEXED BY "
                 "trials_open WHERE study=? AND state=2 AND state<=3 "
                 "AND client=? "
                 "ORDER BY id",
                 "is", study, client);
    return status == HT_OK ? db_all_trials(db, arena, stmt, list, err) : status;
}

enum ht_status db_trial_undone(struct db *db, const struct event_row *event,
                               int64_t until, bool *undone,
                               struct ht_error *err)
{
    sqlite3_stmt *stmt;
    int64_t found = 0;
    enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT 1 FROM events WHERE study=? AND revision>? AND revision<=? "
        "AND trial=? AND (kind='trial.deleted' OR (kind='trial.moved' AND "
        "\"from\" IN ('SUCCEEDED', 'STOPPED', 'FAILED', 'INFEASIBLE', "
        "'CANCELLED', 'PAUSED'))) LIMIT 1",
        "iiii", event->study, event->revision, until, event->trial);
    if (status == HT_OK)
        status = db_integer(db, stmt, 0, &found, err);
    if (status == HT_OK)
        *undone = found != 0;
    return status;
}

#define FINAL "('SUCCEEDED', 'STOPPED', 'FAILED', 'INFEASIBLE', 'CANCELLED')"

enum ht_status db_results_changed(struct db *db, int64_t study, int64_t since,
                                  bool *changed, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    int64_t found = 0;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT 1 FROM events WHERE study=? AND revision>? AND "
                 "(kind='trial.deleted' OR (kind='trial.moved' AND "
                 "(\"from\" IN " FINAL " OR \"to\" IN " FINAL "))) LIMIT 1",
                 "ii", study, since);
    if (status == HT_OK)
        status = db_integer(db, stmt, 0, &found, err);
    if (status == HT_OK)
        *changed = found != 0;
    return status;
}

enum ht_status db_trial_set_client(struct db *db, const struct trial_row *row,
                                   struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET client=?3 WHERE study=?1 AND id=?2", "iis",
                  row->study, row->id, row->client);
}

enum ht_status db_trial_set_point(struct db *db, const struct trial_row *row,
                                  struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET params=?3, replicate=?4 "
                  "WHERE study=?1 AND id=?2",
                  "iisi", row->study, row->id, row->params, row->replicate);
}

enum ht_status db_trial_erase(struct db *db, const struct trial_row *row,
                              struct ht_error *err)
{
    static const char *const parts[] = {
        "DELETE FROM measurements WHERE study=? AND trial=?",
        "DELETE FROM writers WHERE study=? AND trial=?",
        "DELETE FROM attempts WHERE study=? AND trial=?",
        "DELETE FROM rungs WHERE study=? AND trial=?",
        "DELETE FROM metadata WHERE study=? AND trial=?",
        "DELETE FROM trials WHERE study=? AND id=?",
    };
    enum ht_status status = db_trial_count(db, row, row->state, -1, err);
    for (size_t i = 0; status == HT_OK && i < sizeof parts / sizeof *parts; i++)
        status = db_run(db, err, parts[i], "ii", row->study, row->id);
    return status;
}

enum ht_status db_measurement_newest(struct db *db, struct arena *arena,
                                     const struct replica_key *key,
                                     struct measurement_row *row,
                                     struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_MEASUREMENT_COLUMNS " FROM measurements "
                 "WHERE study=? AND trial=? AND attempt=? AND replica=? "
                 "ORDER BY writer DESC, seq DESC LIMIT 1",
                 "iiis", key->study, key->trial, key->attempt, key->replica);
    bool found = false;
    if (status == HT_OK)
        status = db_step(db, stmt, &found, err);
    if (status != HT_OK)
        return status;
    if (!found)
        return ht_fail(err, HT_NOT_FOUND, "nothing was measured");
    db_read_measurement(stmt, arena, row);
    db_done(stmt);
    return HT_OK;
}

enum ht_status db_attempt_usage(struct db *db, int64_t study, int64_t wall_ms,
                                struct attempt_usage *usage,
                                struct ht_error *err)
{
    sqlite3_stmt *stmt;
    bool row = false;
    /* The wall clock may have been set back meanwhile. */
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT count(*), total(max(0, "
                 "iif(ended_ms>0, ended_ms, ?2) - started_ms)) "
                 "FROM attempts WHERE study=?1 AND started_ms>0",
                 "ii", study, wall_ms);
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    *usage = (struct attempt_usage){
        .begun = sqlite3_column_int64(stmt, 0),
        .ran_ms = (int64_t)sqlite3_column_double(stmt, 1)};
    db_done(stmt);
    return HT_OK;
}
