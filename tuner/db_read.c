#include <stdlib.h>
#include <string.h>

#include "tuner/db_internal.h"
#include "tuner/db_write.h"

/* --- one mapper per struct; columns as in db_internal.h --- */

void db_read_study(sqlite3_stmt *stmt, struct arena *arena,
                   struct study_row *row)
{
    *row = (struct study_row){
        .id = sqlite3_column_int64(stmt, 0),
        .project = db_column_text(arena, stmt, 1),
        .location = db_column_text(arena, stmt, 2),
        .name = db_column_text(arena, stmt, 3),
        .display = db_column_text(arena, stmt, 4),
        .spec = db_column_text(arena, stmt, 5),
        .state = (enum study_state)sqlite3_column_int(stmt, 6),
        .reason = db_column_text(arena, stmt, 7),
        .revision = sqlite3_column_int64(stmt, 8),
        .seed = sqlite3_column_int64(stmt, 9),
        .next_trial = sqlite3_column_int64(stmt, 10),
        .exhausted = sqlite3_column_int(stmt, 11) != 0,
        .ends_as = (enum study_state)sqlite3_column_int(stmt, 12),
        .stale_trials = sqlite3_column_int64(stmt, 13),
        .used_ms = sqlite3_column_int64(stmt, 14),
        .created_ms = sqlite3_column_int64(stmt, 15),
        .started_ms = sqlite3_column_int64(stmt, 16),
        .ended_ms = sqlite3_column_int64(stmt, 17),
        .updated_ms = sqlite3_column_int64(stmt, 18),
        .kind = (enum job_kind)sqlite3_column_int(stmt, 19),
        .gain_ms = sqlite3_column_int64(stmt, 20),
        .refusals = sqlite3_column_int64(stmt, 21),
        .confirmations = sqlite3_column_int64(stmt, 22),
        .ended = db_column_text(arena, stmt, 23),
        .submitted = db_column_text(arena, stmt, 24),
        .begun_ms = sqlite3_column_int64(stmt, 25),
        .silent = sqlite3_column_int64(stmt, 26),
    };
}

void db_read_trial(sqlite3_stmt *stmt, struct arena *arena,
                   struct trial_row *row)
{
    *row = (struct trial_row){
        .study = sqlite3_column_int64(stmt, 0),
        .id = sqlite3_column_int64(stmt, 1),
        .state = (enum trial_state)sqlite3_column_int(stmt, 2),
        .params = db_column_text(arena, stmt, 3),
        .replicate = sqlite3_column_int64(stmt, 4),
        .ordinal = sqlite3_column_int64(stmt, 5),
        .attempt = sqlite3_column_int64(stmt, 6),
        .failures = sqlite3_column_int64(stmt, 7),
        .losses = sqlite3_column_int64(stmt, 8),
        .has_objective = sqlite3_column_type(stmt, 9) != SQLITE_NULL,
        .objective = sqlite3_column_double(stmt, 9),
        .final_step = sqlite3_column_int64(stmt, 10),
        .final_metrics = db_column_text(arena, stmt, 11),
        .latest_metrics = db_column_text(arena, stmt, 12),
        .latest_step = sqlite3_column_int64(stmt, 13),
        .reason = db_column_text(arena, stmt, 14),
        .revision = sqlite3_column_int64(stmt, 15),
        .created_ms = sqlite3_column_int64(stmt, 16),
        .started_ms = sqlite3_column_int64(stmt, 17),
        .ended_ms = sqlite3_column_int64(stmt, 18),
        .client = db_column_text(arena, stmt, 19),
        .added = sqlite3_column_int(stmt, 20) != 0,
        .final_elapsed_ms = sqlite3_column_int64(stmt, 21),
        .why = db_column_text(arena, stmt, 22),
        .stop = db_column_text(arena, stmt, 23),
        .confirms = sqlite3_column_int64(stmt, 24),
        .passed = sqlite3_column_int64(stmt, 25),
        .pausing = sqlite3_column_int(stmt, 26) != 0,
    };
}

void db_read_attempt(sqlite3_stmt *stmt, struct arena *arena,
                     struct attempt_row *row)
{
    *row = (struct attempt_row){
        .study = sqlite3_column_int64(stmt, 0),
        .trial = sqlite3_column_int64(stmt, 1),
        .n = sqlite3_column_int64(stmt, 2),
        .state = (enum attempt_state)sqlite3_column_int(stmt, 3),
        .outcome = (enum attempt_outcome)sqlite3_column_int(stmt, 4),
        .runner = db_column_text(arena, stmt, 5),
        .exit_code = sqlite3_column_int64(stmt, 6),
        .signal = sqlite3_column_int64(stmt, 7),
        .reason = db_column_text(arena, stmt, 8),
        .winner = sqlite3_column_int(stmt, 9) != 0,
        .created_ms = sqlite3_column_int64(stmt, 10),
        .started_ms = sqlite3_column_int64(stmt, 11),
        .ended_ms = sqlite3_column_int64(stmt, 12),
        .facts = db_column_text(arena, stmt, 13),
        .outputs = (enum outputs_state)sqlite3_column_int(stmt, 14),
        .doctor = db_column_text(arena, stmt, 15),
    };
}

void db_read_measurement(sqlite3_stmt *stmt, struct arena *arena,
                         struct measurement_row *row)
{
    *row = (struct measurement_row){
        .study = sqlite3_column_int64(stmt, 0),
        .trial = sqlite3_column_int64(stmt, 1),
        .attempt = sqlite3_column_int64(stmt, 2),
        .replica = db_column_text(arena, stmt, 3),
        .writer = (uint64_t)sqlite3_column_int64(stmt, 4),
        .seq = sqlite3_column_int64(stmt, 5),
        .step = sqlite3_column_int64(stmt, 6),
        .time_ms = sqlite3_column_int64(stmt, 7),
        .metrics = db_column_text(arena, stmt, 8),
        .checkpoint = db_column_text(arena, stmt, 9),
    };
}

static void read_event(sqlite3_stmt *stmt, struct arena *arena,
                       struct event_row *row)
{
    *row = (struct event_row){
        .study = sqlite3_column_int64(stmt, 0),
        .revision = sqlite3_column_int64(stmt, 1),
        .time_ms = sqlite3_column_int64(stmt, 2),
        .kind = db_column_text(arena, stmt, 3),
        .trial = sqlite3_column_int64(stmt, 4),
        .attempt = sqlite3_column_int64(stmt, 5),
        .from = db_column_text(arena, stmt, 6),
        .to = db_column_text(arena, stmt, 7),
        .reason = db_column_text(arena, stmt, 8),
        .data = db_column_text(arena, stmt, 9),
    };
}

static void read_runner(sqlite3_stmt *stmt, struct arena *arena,
                        struct runner_row *row)
{
    *row = (struct runner_row){
        .id = db_column_text(arena, stmt, 0),
        .engine = db_column_text(arena, stmt, 1),
        .host = db_column_text(arena, stmt, 2),
        .boot = db_column_text(arena, stmt, 3),
        .slots = sqlite3_column_int64(stmt, 4),
        .seen_ms = sqlite3_column_int64(stmt, 5),
        .online = sqlite3_column_int(stmt, 6) != 0,
        .rules = db_column_text(arena, stmt, 7),
    };
}

/* --- studies --- */

static enum ht_status one_study(struct db *db, struct arena *arena,
                                sqlite3_stmt *stmt, struct study_row *row,
                                struct ht_error *err)
{
    bool found;
    const enum ht_status status = db_step(db, stmt, &found, err);
    if (status != HT_OK)
        return status;
    if (!found)
        return ht_fail(err, HT_NOT_FOUND, "there is no such study");
    db_read_study(stmt, arena, row);
    db_done(stmt);
    return HT_OK;
}

enum ht_status db_study_get(struct db *db, struct arena *arena, int64_t id,
                            struct study_row *row, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status = db_query(
        db, &stmt, err, "SELECT " DB_STUDY_COLUMNS " FROM studies WHERE id=?",
        "i", id);
    return status == HT_OK ? one_study(db, arena, stmt, row, err) : status;
}

/* A key of digits only is a number; names never are (study_create). */
static bool is_number(const char *key, int64_t *number)
{
    const size_t len = strspn(key, "0123456789");
    if (len == 0 || len > 18 || key[len] != '\0')
        return false;
    *number = strtoll(key, NULL, 10);
    return true;
}

/* What Google's clients know by no other name. */
static bool are_jobs(unsigned kinds)
{
    return kinds != 0 && (kinds & STUDY_KIND(JOB_STUDY)) == 0;
}

/* ?1, ?2, ?3 of a query are project, location and kinds. */
#define IN_SCOPE                                                               \
    "state<>8 AND (?1 IS NULL OR project=?1) "                                 \
    "AND (?2 IS NULL OR location=?2) AND (?3=0 OR (?3 >> kind) & 1) "

enum ht_status db_study_find(struct db *db, struct arena *arena,
                             const struct study_scope *scope, const char *key,
                             struct study_row *row, struct ht_error *err)
{
    int64_t id = 0;
    const bool by_number = is_number(key, &id);
    sqlite3_stmt *stmt;
    const enum ht_status status =
        by_number
            ? db_query(db, &stmt, err,
                       "SELECT " DB_STUDY_COLUMNS " FROM studies "
                       "WHERE id=?4 AND " IN_SCOPE,
                       "ssii", scope->project, scope->location,
                       (int64_t)scope->kinds, id)
            : db_query(db, &stmt, err,
                       "SELECT " DB_STUDY_COLUMNS " FROM studies "
                       "WHERE name=?4 AND " IN_SCOPE "ORDER BY id DESC LIMIT 1",
                       "ssis", scope->project, scope->location,
                       (int64_t)scope->kinds, key);
    if (status != HT_OK)
        return status;
    const enum ht_status found = one_study(db, arena, stmt, row, err);
    if (found == HT_NOT_FOUND)
        return ht_fail(err, HT_NOT_FOUND, "there is no %s %.150s",
                       are_jobs(scope->kinds) ? "job" : "study", key);
    return found;
}

enum ht_status db_study_open_count(struct db *db, int64_t *n,
                                   struct ht_error *err)
{
    sqlite3_stmt *stmt;
    /* The states before SUCCEEDED (4); those after have ended. */
    const enum ht_status status = db_query(
        db, &stmt, err, "SELECT count(*) FROM studies WHERE state<4", "");
    return status == HT_OK ? db_integer(db, stmt, 0, n, err) : status;
}

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_study_list(struct db *db, struct arena *arena,
                             const struct study_scope *scope, int64_t before,
                             size_t limit, struct study_list *list,
                             struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT " DB_STUDY_COLUMNS " FROM studies WHERE id<?4 AND " IN_SCOPE
        "ORDER BY id DESC LIMIT ?5",
        "ssiii", scope->project, scope->location, (int64_t)scope->kinds,
        before > 0 ? before : INT64_MAX, (int64_t)limit);
    struct study_list found = {0};
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.rows = db_grow(arena, found.rows, found.n, sizeof *found.rows);
        db_read_study(stmt, arena, &found.rows[found.n++]);
    }
    if (status == HT_OK)
        *list = found;
    return status;
}

/* --- trials --- */

int64_t trial_counts_all(const struct trial_counts *counts,
                         enum trial_state state)
{
    return counts->of[state] + counts->confirming[state];
}

enum ht_status db_trial_counts(struct db *db, int64_t study,
                               struct trial_counts *counts,
                               struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT state, n-confirming, confirming FROM trial_counts "
                 "WHERE study=?",
                 "i", study);
    struct trial_counts found = {0};
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        const int state = sqlite3_column_int(stmt, 0);
        found.of[state] = sqlite3_column_int64(stmt, 1);
        found.confirming[state] = sqlite3_column_int64(stmt, 2);
    }
    if (status == HT_OK)
        *counts = found;
    return status;
}

static enum ht_status one_trial(struct db *db, struct arena *arena,
                                sqlite3_stmt *stmt, struct trial_row *row,
                                struct ht_error *err)
{
    bool found;
    const enum ht_status status = db_step(db, stmt, &found, err);
    if (status != HT_OK)
        return status;
    if (!found)
        return ht_fail(err, HT_NOT_FOUND, "there is no such trial");
    db_read_trial(stmt, arena, row);
    db_done(stmt);
    return HT_OK;
}

enum ht_status db_trial_get(struct db *db, struct arena *arena, int64_t study,
                            int64_t id, struct trial_row *row,
                            struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials WHERE study=? AND id=?", "ii",
        study, id);
    return status == HT_OK ? one_trial(db, arena, stmt, row, err) : status;
}

enum ht_status db_all_trials(struct db *db, struct arena *arena,
                             sqlite3_stmt *stmt, struct trial_list *list,
                             struct ht_error *err)
{
    struct trial_list found = {0};
    enum ht_status status;
    bool row = true;
    while ((status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.rows = db_grow(arena, found.rows, found.n, sizeof *found.rows);
        db_read_trial(stmt, arena, &found.rows[found.n++]);
    }
    if (status == HT_OK)
        *list = found;
    return status;
}

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_trial_list(struct db *db, struct arena *arena, int64_t study,
                             int64_t after, size_t limit,
                             struct trial_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                 "WHERE study=? AND id>? AND state<>0 ORDER BY id LIMIT ?",
                 "iii", study, after, (int64_t)limit);
    return status == HT_OK ? db_all_trials(db, arena, stmt, list, err) : status;
}

enum ht_status db_trial_open(struct db *db, struct arena *arena, int64_t study,
                             size_t limit, struct trial_list *list,
                             struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                 "WHERE study=? AND state<=3 LIMIT ?",
                 "ii", study, (int64_t)limit);
    return status == HT_OK ? db_all_trials(db, arena, stmt, list, err) : status;
}

enum ht_status db_trial_paused(struct db *db, struct arena *arena,
                               int64_t study, size_t limit,
                               struct trial_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                 "INDEXED BY trials_paused WHERE study=? AND state=9 "
                 "ORDER BY id LIMIT ?",
                 "ii", study, (int64_t)limit);
    return status == HT_OK ? db_all_trials(db, arena, stmt, list, err) : status;
}

enum ht_status db_trial_waiting(struct db *db, struct arena *arena,
                                int64_t study, int64_t after,
                                struct trial_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials INDEXED BY trials_open "
        "WHERE study=? AND state=1 AND state<=3 AND id>? "
        "ORDER BY id LIMIT ?",
        "iii", study, after, (int64_t)DB_WAITING_PAGE);
    return status == HT_OK ? db_all_trials(db, arena, stmt, list, err) : status;
}

#define BEST_IN(state, extreme)                                                \
    "SELECT * FROM (SELECT " DB_TRIAL_COLUMNS " FROM trials "                  \
    "INDEXED BY trials_best WHERE study=?1 AND confirms=0 AND state=" state    \
    " AND objective=(SELECT " extreme "(objective) FROM trials "               \
    "WHERE study=?1 AND confirms=0 AND state=" state ") "                      \
    "ORDER BY id LIMIT 1)"
/* SUCCEEDED and STOPPED. */
#define BEST_OF(extreme, order)                                                \
    BEST_IN("4", extreme)                                                      \
    " UNION ALL " BEST_IN("5", extreme) " ORDER BY objective " order           \
                                        ", id LIMIT 1"

enum ht_status db_trial_best(struct db *db, struct arena *arena, int64_t study,
                             bool maximize, struct trial_row *row,
                             struct ht_error *err)
{
    /* By value first, then by id: both walk the index, so a thousand equal
     * results cost no more than one. */
    static const char highest[] = BEST_OF("max", "DESC");
    static const char lowest[] = BEST_OF("min", "ASC");
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err, maximize ? highest : lowest, "i", study);
    return status == HT_OK ? one_trial(db, arena, stmt, row, err) : status;
}

/* --- attempts, measurements, events, runners --- */

static enum ht_status all_attempts(struct db *db, struct arena *arena,
                                   sqlite3_stmt *stmt,
                                   struct attempt_list *list,
                                   struct ht_error *err)
{
    struct attempt_list found = {0};
    enum ht_status status;
    bool row = true;
    while ((status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.rows = db_grow(arena, found.rows, found.n, sizeof *found.rows);
        db_read_attempt(stmt, arena, &found.rows[found.n++]);
    }
    if (status == HT_OK)
        *list = found;
    return status;
}

enum ht_status db_attempt_list(struct db *db, struct arena *arena,
                               int64_t study, int64_t trial,
                               struct attempt_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                 "WHERE study=? AND trial=? ORDER BY n",
                 "ii", study, trial);
    return status == HT_OK ? all_attempts(db, arena, stmt, list, err) : status;
}

enum ht_status db_attempt_open(struct db *db, struct arena *arena,
                               const char *runner, struct attempt_list *list,
                               struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                 "WHERE runner=? AND state<3 ORDER BY study, trial, n",
                 "s", runner);
    return status == HT_OK ? all_attempts(db, arena, stmt, list, err) : status;
}

enum ht_status db_attempt_leased(struct db *db, struct arena *arena,
                                 const struct lease_key *key,
                                 struct attempt_list *list,
                                 struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                 "WHERE runner=? AND boot=? AND lease_id=? AND state<3 "
                 "AND state=0 ORDER BY study, trial, n",
                 "ssi", key->runner, key->boot, key->id);
    return status == HT_OK ? all_attempts(db, arena, stmt, list, err) : status;
}

static enum ht_status one_attempt(struct db *db, struct arena *arena,
                                  sqlite3_stmt *stmt, struct attempt_row *row,
                                  struct ht_error *err)
{
    bool found;
    const enum ht_status status = db_step(db, stmt, &found, err);
    if (status != HT_OK)
        return status;
    if (!found)
        return ht_fail(err, HT_NOT_FOUND, "there is no such attempt");
    db_read_attempt(stmt, arena, row);
    db_done(stmt);
    return HT_OK;
}

enum ht_status db_attempt_get(struct db *db, struct arena *arena,
                              const struct trial_name *name,
                              struct attempt_row *row, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_ATTEMPT_COLUMNS
                 " FROM attempts WHERE study=? AND trial=? AND n=?",
                 "iii", name->study, name->trial, name->attempt);
    return status == HT_OK ? one_attempt(db, arena, stmt, row, err) : status;
}

enum ht_status db_attempt_by_token(struct db *db, struct arena *arena,
                                   const unsigned char hash[TOKEN_HASH_BYTES],
                                   struct attempt_row *row,
                                   struct ht_error *err)
{
    const struct db_blob blob = {hash, TOKEN_HASH_BYTES};
    sqlite3_stmt *stmt;
    const enum ht_status status = db_query(db, &stmt, err,
                                           "SELECT " DB_ATTEMPT_COLUMNS
                                           " FROM attempts WHERE token_hash=?",
                                           "x", &blob);
    return status == HT_OK ? one_attempt(db, arena, stmt, row, err) : status;
}

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_measurement_page(struct db *db, struct arena *arena,
                                   const struct trial_name *trial, int64_t skip,
                                   size_t limit, struct measurement_list *list,
                                   struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT " DB_MEASUREMENT_COLUMNS " FROM measurements "
                 "WHERE study=? AND trial=? "
                 "ORDER BY attempt, CASE attempt WHEN 0 THEN seq END, time_ms, "
                 "step, replica, writer, seq LIMIT ? OFFSET ?",
                 "iiii", trial->study, trial->trial, (int64_t)limit, skip);
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

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_measurement_list(struct db *db, struct arena *arena,
                                   int64_t study, int64_t trial, size_t limit,
                                   struct measurement_list *list,
                                   struct ht_error *err)
{
    const struct trial_name name = {study, trial, 0};
    return db_measurement_page(db, arena, &name, 0, limit, list, err);
}

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_event_list(struct db *db, struct arena *arena, int64_t study,
                             int64_t since, size_t limit,
                             struct event_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT study, revision, time_ms, kind, trial, attempt, "
                 "\"from\", \"to\", reason, data FROM events "
                 "WHERE study=? AND revision>? ORDER BY revision LIMIT ?",
                 "iii", study, since, (int64_t)limit);
    struct event_list found = {0};
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.rows = db_grow(arena, found.rows, found.n, sizeof *found.rows);
        read_event(stmt, arena, &found.rows[found.n++]);
    }
    if (status == HT_OK)
        *list = found;
    return status;
}

enum ht_status db_runner_list(struct db *db, struct arena *arena,
                              struct runner_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT id, engine, host, boot, slots, seen_ms, online, "
                 "rules FROM runners ORDER BY id",
                 "");
    struct runner_list found = {0};
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.rows = db_grow(arena, found.rows, found.n, sizeof *found.rows);
        read_runner(stmt, arena, &found.rows[found.n++]);
    }
    if (status == HT_OK)
        *list = found;
    return status;
}

enum ht_status db_runner_busy(struct db *db, const char *runner, int64_t *busy,
                              struct ht_error *err)
{
    sqlite3_stmt *stmt;
    const enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT count(*) FROM attempts WHERE runner=? AND state<3",
                 "s", runner);
    return status == HT_OK ? db_integer(db, stmt, 0, busy, err) : status;
}
