#include "tuner/db_write.h"

#include "tuner/db_internal.h"

/* --- meta --- */

enum ht_status db_meta_get(struct db *db, struct arena *arena, const char *key,
                           const char **value, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status = db_query(
        db, &stmt, err, "SELECT value FROM meta WHERE key=?", "s", key);
    bool row = false;
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    *value = NULL;
    if (row) {
        *value = db_column_text(arena, stmt, 0);
        db_done(stmt);
    }
    return HT_OK;
}

enum ht_status db_meta_set(struct db *db, const char *key, const char *value,
                           struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO meta(key, value) VALUES(?, ?) "
                  "ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "ss", key, value);
}

/* --- studies --- */

enum ht_status db_study_next_id(struct db *db, int64_t *id,
                                struct ht_error *err)
{
    sqlite3_stmt *stmt;
    int64_t last;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT seq FROM sqlite_sequence WHERE name='studies'", "");
    if (status == HT_OK)
        status = db_integer(db, stmt, 0, &last, err);
    if (status == HT_OK)
        *id = last + 1;
    return status;
}

enum ht_status db_study_name_taken(struct db *db, const char *project,
                                   const char *location, const char *name,
                                   bool *taken, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    int64_t found;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT 1 FROM studies WHERE project=?1 "
                 "AND (?2 IS NULL OR location=?2) AND name=?3 AND state<>8",
                 "sss", project, location, name);
    if (status == HT_OK)
        status = db_integer(db, stmt, 0, &found, err);
    if (status == HT_OK)
        *taken = found != 0;
    return status;
}

enum ht_status db_study_insert(struct db *db, const struct study_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO studies(id, project, location, name, display, "
                  "spec, state, reason, seed, ends_as, created_ms, kind, "
                  "submitted, updated_ms) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?11, ?12, ?13, ?11)",
                  "isssssisiiiis", row->id, row->project, row->location,
                  row->name, row->display, row->spec, (int64_t)row->state,
                  row->reason, row->seed, (int64_t)row->ends_as,
                  row->created_ms, (int64_t)row->kind,
                  row->submitted == NULL ? "" : row->submitted);
}

enum ht_status db_study_save(struct db *db, const struct study_row *row,
                             struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE studies SET spec=?2, display=?3, state=?4, "
                  "reason=?5, exhausted=?6, ends_as=?7, started_ms=?8, "
                  "ended_ms=?9, ended=?10, begun_ms=?11 WHERE id=?1",
                  "issisiiiisi", row->id, row->spec, row->display,
                  (int64_t)row->state, row->reason, (int64_t)row->exhausted,
                  (int64_t)row->ends_as, row->started_ms, row->ended_ms,
                  row->ended == NULL ? "" : row->ended, row->begun_ms);
}

enum ht_status db_study_add_revision(struct db *db, int64_t study,
                                     int64_t *wall_ms, int64_t *revision,
                                     struct ht_error *err)
{
    sqlite3_stmt *stmt;
    bool row;
    enum ht_status status = db_query(
        db, &stmt, err,
        "UPDATE studies SET revision=revision+1, updated_ms="
        "CASE WHEN updated_ms-?2 BETWEEN 0 AND 3600000 THEN updated_ms "
        "ELSE ?2 END WHERE id=?1 RETURNING updated_ms, revision",
        "ii", study, *wall_ms);
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    if (!row)
        return ht_fail(err, HT_NOT_FOUND, "there is no study %lld",
                       (long long)study);
    *wall_ms = sqlite3_column_int64(stmt, 0);
    *revision = sqlite3_column_int64(stmt, 1);
    db_done(stmt);
    return HT_OK;
}

enum ht_status db_study_take_trial_id(struct db *db, int64_t study,
                                      bool confirms, int64_t *id,
                                      struct ht_error *err)
{
    enum ht_status status =
        db_run(db, err,
               "UPDATE studies SET next_trial=next_trial+1, "
               "confirmations=confirmations+?2 WHERE id=?1",
               "ii", study, (int64_t)confirms);
    sqlite3_stmt *stmt;
    if (status == HT_OK)
        status =
            db_query(db, &stmt, err,
                     "SELECT next_trial-1 FROM studies WHERE id=?", "i", study);
    return status == HT_OK ? db_integer(db, stmt, 0, id, err) : status;
}

enum ht_status db_study_set_progress(struct db *db, int64_t study,
                                     int64_t stale, int64_t gain_ms,
                                     struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE studies SET stale_trials=?2, gain_ms=?3 WHERE id=?1",
                  "iii", study, stale, gain_ms);
}

enum ht_status db_study_set_used(struct db *db, int64_t study, int64_t used_ms,
                                 struct ht_error *err)
{
    return db_run(db, err, "UPDATE studies SET used_ms=?2 WHERE id=?1", "ii",
                  study, used_ms);
}

enum ht_status db_study_has_run(struct db *db, int64_t study, bool *has_run,
                                struct ht_error *err)
{
    sqlite3_stmt *stmt;
    int64_t found;
    enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT 1 FROM attempts WHERE study=? AND started_ms>0 LIMIT 1", "i",
        study);
    if (status == HT_OK)
        status = db_integer(db, stmt, 0, &found, err);
    if (status == HT_OK)
        *has_run = found != 0;
    return status;
}

enum ht_status db_study_set_refusals(struct db *db, int64_t study,
                                     int64_t refusals, struct ht_error *err)
{
    return db_run(db, err, "UPDATE studies SET refusals=?2 WHERE id=?1", "ii",
                  study, refusals);
}

enum ht_status db_study_set_silent(struct db *db, int64_t study, int64_t silent,
                                   struct ht_error *err)
{
    return db_run(db, err, "UPDATE studies SET silent=?2 WHERE id=?1", "ii",
                  study, silent);
}

static enum ht_status all_ids(struct db *db, struct arena *arena,
                              sqlite3_stmt *stmt, struct id_list *list,
                              struct ht_error *err)
{
    struct id_list found = {0};
    enum ht_status status;
    bool row = true;
    while ((status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.ids = db_grow(arena, found.ids, found.n, sizeof *found.ids);
        found.ids[found.n++] = sqlite3_column_int64(stmt, 0);
    }
    if (status == HT_OK)
        *list = found;
    return status;
}

enum ht_status db_study_ids(struct db *db, struct arena *arena,
                            enum study_state state, struct id_list *list,
                            struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status = db_query(
        db, &stmt, err, "SELECT id FROM studies WHERE state=? ORDER BY id", "i",
        (int64_t)state);
    return status == HT_OK ? all_ids(db, arena, stmt, list, err) : status;
}

enum ht_status db_study_hungry(struct db *db, struct arena *arena,
                               struct id_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT s.id FROM studies AS s JOIN trial_counts AS waiting "
                 "ON waiting.study=s.id AND waiting.state=1 AND waiting.n>0 "
                 "LEFT JOIN trial_counts AS active "
                 "ON active.study=s.id AND active.state=2 "
                 "WHERE s.state=0 AND s.kind<>1 "
                 "ORDER BY coalesce(active.n, 0), s.id LIMIT 1000",
                 "");
    return status == HT_OK ? all_ids(db, arena, stmt, list, err) : status;
}

enum ht_status db_study_erase(struct db *db, int64_t study, int64_t limit,
                              bool *left, struct ht_error *err)
{
    static const char *const slices[] = {
        "DELETE FROM measurements WHERE (study, trial, attempt, replica, "
        "writer, seq) IN (SELECT study, trial, attempt, replica, writer, seq "
        "FROM measurements WHERE study=?1 LIMIT ?2)",
        "DELETE FROM writers WHERE (study, trial, attempt, replica, writer) IN "
        "(SELECT study, trial, attempt, replica, writer FROM writers "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM rungs WHERE (study, trial, rung) IN (SELECT study, "
        "trial, rung FROM rungs WHERE study=?1 LIMIT ?2)",
        "DELETE FROM metadata WHERE version IN (SELECT version FROM metadata "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM events WHERE study=?1 AND revision IN (SELECT revision "
        "FROM events WHERE study=?1 LIMIT ?2)",
        "DELETE FROM attempts WHERE (study, trial, n) IN (SELECT study, trial, "
        "n FROM attempts WHERE study=?1 LIMIT ?2)",
        "DELETE FROM trials WHERE study=?1 AND id IN (SELECT id FROM trials "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM trial_counts WHERE study=?1 AND ?2>0",
        "DELETE FROM prior_results WHERE study=?1 AND ?2>0",
        "DELETE FROM priors WHERE study=?1 AND ?2>0",
        "DELETE FROM studies WHERE id=?1 AND ?2>0",
    };
    for (size_t i = 0; i < sizeof slices / sizeof *slices && limit > 0; i++) {
        const enum ht_status status =
            db_run(db, err, slices[i], "ii", study, limit);
        if (status != HT_OK)
            return status;
        limit -= sqlite3_changes64(db->handle);
    }
    sqlite3_stmt *stmt;
    int64_t found;
    enum ht_status status = db_query(
        db, &stmt, err, "SELECT 1 FROM studies WHERE id=?", "i", study);
    if (status == HT_OK)
        status = db_integer(db, stmt, 0, &found, err);
    if (status == HT_OK)
        *left = found != 0;
    return status;
}

enum ht_status db_is_busy(struct db *db, bool *busy, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    int64_t found;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT EXISTS(SELECT 1 FROM studies "
                 "WHERE state=8 OR (state IN (0, 2, 3) AND kind<>1)) "
                 "OR EXISTS(SELECT 1 FROM attempts WHERE state<3)",
                 "");
    if (status == HT_OK)
        status = db_integer(db, stmt, 0, &found, err);
    if (status == HT_OK)
        *busy = found != 0;
    return status;
}

/* --- trials --- */

enum ht_status db_trial_insert(struct db *db, const struct trial_row *row,
                               bool *inserted, struct ht_error *err)
{
    const enum ht_status status = db_run(
        db, err,
        "INSERT INTO trials(study, id, state, params, replicate, "
        "ordinal, reason, created_ms, client, added, why, confirms) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT(study, params, replicate) DO NOTHING",
        "iiisiisisisi", row->study, row->id, (int64_t)row->state, row->params,
        row->replicate, row->ordinal, row->reason, row->created_ms,
        row->client == NULL ? "" : row->client, (int64_t)row->added,
        row->why == NULL ? "" : row->why, row->confirms);
    if (status == HT_OK)
        *inserted = sqlite3_changes64(db->handle) > 0;
    return status;
}

enum ht_status db_trial_save(struct db *db, const struct trial_row *row,
                             struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET state=?3, attempt=?4, failures=?5, "
                  "losses=?6, objective=?7, final_step=?8, final_metrics=?9, "
                  "reason=?10, revision=?11, started_ms=?12, ended_ms=?13, "
                  "final_elapsed_ms=?14, stop=?15, passed=?16, pausing=?17 "
                  "WHERE study=?1 AND id=?2",
                  "iiiiiioissiiiisii", row->study, row->id, (int64_t)row->state,
                  row->attempt, row->failures, row->losses,
                  row->has_objective ? &row->objective : NULL, row->final_step,
                  row->final_metrics, row->reason, row->revision,
                  row->started_ms, row->ended_ms, row->final_elapsed_ms,
                  row->stop == NULL ? "" : row->stop, row->passed,
                  (int64_t)row->pausing);
}

enum ht_status db_trial_set_latest(struct db *db, int64_t study, int64_t trial,
                                   int64_t step, const char *metrics,
                                   struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET latest_step=?3, latest_metrics=?4 "
                  "WHERE study=?1 AND id=?2",
                  "iiis", study, trial, step, metrics);
}

enum ht_status db_trial_count(struct db *db, const struct trial_row *row,
                              enum trial_state state, int64_t change,
                              struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO trial_counts(study, state, n, confirming) "
                  "VALUES(?, ?, ?, ?) ON CONFLICT(study, state) DO UPDATE SET "
                  "n=n+excluded.n, confirming=confirming+excluded.confirming",
                  "iiii", row->study, (int64_t)state, change,
                  row->confirms != 0 ? change : 0);
}

enum ht_status db_trial_common_failure(struct db *db, struct arena *arena,
                                       int64_t study, const char **reason,
                                       struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT reason FROM trials WHERE study=? AND state=6 "
                 "GROUP BY reason ORDER BY count(*) DESC, min(id) LIMIT 1",
                 "i", study);
    bool row = false;
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    *reason = "";
    if (row) {
        *reason = db_column_text(arena, stmt, 0);
        db_done(stmt);
    }
    return HT_OK;
}

/* --- attempts --- */

enum ht_status db_attempt_insert(struct db *db, const struct attempt_row *row,
                                 const struct attempt_lease *lease,
                                 struct ht_error *err)
{
    const struct db_blob hash = {lease->token_hash, TOKEN_HASH_BYTES};
    return db_run(db, err,
                  "INSERT INTO attempts(study, trial, n, state, runner, boot, "
                  "lease_id, token_hash, created_ms) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  "iiiissixi", row->study, row->trial, row->n,
                  (int64_t)row->state, row->runner, lease->boot,
                  lease->lease_id, &hash, row->created_ms);
}

enum ht_status db_attempt_save(struct db *db, const struct attempt_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET state=?4, outcome=?5, exit_code=?6, "
                  "signal=?7, reason=?8, winner=?9, started_ms=?10, "
                  "ended_ms=?11 WHERE study=?1 AND trial=?2 AND n=?3",
                  "iiiiiiisiii", row->study, row->trial, row->n,
                  (int64_t)row->state, (int64_t)row->outcome, row->exit_code,
                  row->signal, row->reason, (int64_t)row->winner,
                  row->started_ms, row->ended_ms);
}

enum ht_status db_attempt_set_facts(struct db *db,
                                    const struct attempt_row *row,
                                    const char *facts, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET facts=?4 "
                  "WHERE study=?1 AND trial=?2 AND n=?3",
                  "iiis", row->study, row->trial, row->n, facts);
}

enum ht_status db_attempt_set_doctor(struct db *db,
                                     const struct attempt_row *row,
                                     const char *doctor, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET doctor=?4 "
                  "WHERE study=?1 AND trial=?2 AND n=?3",
                  "iiis", row->study, row->trial, row->n, doctor);
}

enum ht_status db_attempt_clear_winner(struct db *db, int64_t study,
                                       int64_t trial, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET winner=0 "
                  "WHERE study=? AND trial=? AND winner=1",
                  "ii", study, trial);
}

enum ht_status db_attempt_set_token(struct db *db,
                                    const struct attempt_row *row,
                                    const unsigned char hash[TOKEN_HASH_BYTES],
                                    struct ht_error *err)
{
    const struct db_blob blob = {hash, TOKEN_HASH_BYTES};
    return db_run(db, err,
                  "UPDATE attempts SET token_hash=?4 "
                  "WHERE study=?1 AND trial=?2 AND n=?3",
                  "iiix", row->study, row->trial, row->n, &blob);
}

/* --- events and runners --- */

enum ht_status db_event_insert(struct db *db, const struct event_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO events(study, revision, time_ms, kind, trial, "
                  "attempt, \"from\", \"to\", reason, data) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  "iiisiissss", row->study, row->revision, row->time_ms,
                  row->kind, row->trial, row->attempt, row->from, row->to,
                  row->reason, row->data);
}

enum ht_status db_runner_save(struct db *db, const struct runner_row *row,
                              struct ht_error *err)
{
    return db_run(
        db, err,
        "INSERT INTO runners(id, engine, host, boot, slots, seen_ms, online, "
        "rules) VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET "
        "engine=excluded.engine, host=excluded.host, boot=excluded.boot, "
        "slots=excluded.slots, seen_ms=excluded.seen_ms, "
        "online=excluded.online, rules=excluded.rules",
        "ssssiiis", row->id, row->engine, row->host, row->boot, row->slots,
        row->seen_ms, (int64_t)row->online, row->rules);
}

enum ht_status db_runner_set_online(struct db *db, const char *id, bool online,
                                    int64_t seen_ms, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE runners SET online=?2, seen_ms=?3 WHERE id=?1", "sii",
                  id, (int64_t)online, seen_ms);
}
