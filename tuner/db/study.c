/* study.c - the table of studies. */

#include <stdlib.h>
#include <string.h>

#include "proto/base/words.h"
#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"
#include "tuner/db/write.h"

void db_read_study(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    DB_READ_ROW(study_row, DB_STUDY_LIST)
}

/* --- finding them --- */

static const char missing[] = "there is no such study";

enum ht_status db_study_get(struct db *db, struct arena *arena, int64_t id,
                            struct study_row *row, struct ht_error *err)
{
    const struct db_one one = {arena, db_read_study, row, missing};
    return db_ask_one(db, &one, err,
                      "SELECT " DB_STUDY_COLUMNS " FROM studies WHERE id=?",
                      "i", id);
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

/* The only name that Google's clients use for it. */
static bool are_jobs(unsigned kinds)
{
    return kinds != 0 && (kinds & STUDY_KIND(JOB_STUDY)) == 0;
}

/* ?1 to ?4 of a query are project, location, kinds and the only study. */
#define IN_SCOPE                                                               \
    STUDY_IS_SHOWN                                                             \
    " AND (?1 IS NULL OR project=?1) "                                         \
    "AND (?2 IS NULL OR location=?2) AND (?3=0 OR (?3 >> kind) & 1) "          \
    "AND (?4=0 OR id=?4) "

static void add_name(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    words_add(arena, row, db_column_text(arena, stmt, 0));
}

/* The nearest name, of the newest ones that the client could have meant. */
static const char *hint_of(struct db *db, struct arena *arena,
                           const struct study_scope *scope, const char *key)
{
    struct words names = {0};
    const struct db_one each = {arena, add_name, &names, NULL};
    (void)db_ask_each(db, &each, NULL,
                      "SELECT name FROM studies WHERE " IN_SCOPE
                      "ORDER BY id DESC LIMIT 1000",
                      "ssii", scope->project, scope->location,
                      (int64_t)scope->kinds, scope->study);
    words_add(arena, &names, NULL);
    return words_hint(arena, key, names.items);
}

enum ht_status db_study_find(struct db *db, struct arena *arena,
                             const struct study_scope *scope, const char *key,
                             struct study_row *row, struct ht_error *err)
{
    int64_t id = 0;
    const bool by_number = is_number(key, &id);
    const struct db_one one = {arena, db_read_study, row, missing};
    const enum ht_status status =
        by_number ? db_ask_one(db, &one, err,
                               "SELECT " DB_STUDY_COLUMNS " FROM studies "
                               "WHERE id=?5 AND " IN_SCOPE,
                               "ssiii", scope->project, scope->location,
                               (int64_t)scope->kinds, scope->study, id)
                  : db_ask_one(db, &one, err,
                               "SELECT " DB_STUDY_COLUMNS " FROM studies "
                               "WHERE name=?5 AND " IN_SCOPE
                               "ORDER BY id DESC LIMIT 1",
                               "ssiis", scope->project, scope->location,
                               (int64_t)scope->kinds, scope->study, key);
    if (status != HT_NOT_FOUND)
        return status;
    const char *hint = by_number ? "" : hint_of(db, arena, scope, key);
    return ht_fail(err, HT_NOT_FOUND, "there is no %s %.110s%.140s",
                   are_jobs(scope->kinds) ? "job" : "study", key, hint);
}

enum ht_status db_study_by_display(struct db *db, struct arena *arena,
                                   const struct study_scope *scope,
                                   const char *display, struct study_row *row,
                                   struct ht_error *err)
{
    const struct db_one one = {arena, db_read_study, row, missing};
    /* Names of jobs need not be unique: a study that others run comes first,
     * then the newest. */
    const enum ht_status status =
        db_ask_one(db, &one, err,
                   "SELECT " DB_STUDY_COLUMNS " FROM studies WHERE project=? "
                   "AND location=? AND display=? AND " STUDY_IS_SHOWN
                   " AND (? >> kind) & 1 "
                   "ORDER BY " STUDY_IS_CLIENTS " DESC, id DESC LIMIT 1",
                   "sssi", scope->project, scope->location, display,
                   (int64_t)scope->kinds);
    return status == HT_NOT_FOUND
               ? ht_fail(err, HT_NOT_FOUND, "there is no study \"%.150s\"",
                         display)
               : status;
}

enum ht_status db_study_open_count(struct db *db, int64_t *n,
                                   struct ht_error *err)
{
    return db_ask_integer(
        db, n, err, "SELECT count(*) FROM studies WHERE " STUDY_IS_OPEN, "");
}

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_study_list(struct db *db, struct arena *arena,
                             const struct study_scope *scope, int64_t before,
                             size_t limit, struct study_list *list,
                             struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, db_read_study, &list->n, &list->rows), err,
        "SELECT " DB_STUDY_COLUMNS " FROM studies WHERE id<?5 AND " IN_SCOPE
        "ORDER BY id DESC LIMIT ?6",
        "ssiiii", scope->project, scope->location, (int64_t)scope->kinds,
        scope->study, before > 0 ? before : INT64_MAX, (int64_t)limit);
}

enum ht_status db_study_name_taken(struct db *db, const char *project,
                                   const char *location, const char *name,
                                   bool *taken, struct ht_error *err)
{
    return db_ask_bool(
        db, taken, err,
        "SELECT 1 FROM studies WHERE project=?1 "
        "AND (?2 IS NULL OR location=?2) AND name=?3 AND " STUDY_IS_SHOWN,
        "sss", project, location, name);
}

enum ht_status db_study_has_run(struct db *db, int64_t study, bool *has_run,
                                struct ht_error *err)
{
    return db_ask_bool(
        db, has_run, err,
        "SELECT 1 FROM attempts WHERE study=? AND started_ms>0 LIMIT 1", "i",
        study);
}

enum ht_status db_study_unfinished(struct db *db, struct arena *arena,
                                   struct id_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_IDS(arena, list), err,
                       "SELECT id FROM studies WHERE " STUDY_IS_OPEN
                       " OR " STUDY_IS_DELETED,
                       "");
}

enum ht_status db_study_served(struct db *db, struct arena *arena,
                               struct id_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_IDS(arena, list), err,
                       "SELECT id FROM studies WHERE " STUDY_IS_OPEN
                       " AND " STUDY_IS_OURS " ORDER BY id",
                       "");
}

enum ht_status db_study_shown(struct db *db, struct arena *arena,
                              struct id_list *list, struct ht_error *err)
{
    return db_ask_list(
        db, DB_IDS(arena, list), err,
        "SELECT id FROM studies WHERE " STUDY_IS_SHOWN " ORDER BY id", "");
}

enum ht_status db_study_waiting(struct db *db, struct arena *arena,
                                struct id_list *list, struct ht_error *err)
{
    return db_ask_list(
        db, DB_IDS(arena, list), err,
        "SELECT s.id FROM studies AS s JOIN trial_counts AS waiting "
        "ON waiting.study=s.id AND waiting." TRIAL_IS_REQUESTED
        " AND waiting.n>0 "
        "LEFT JOIN trial_counts AS active "
        "ON active.study=s.id AND active." TRIAL_IS_ACTIVE " "
        "WHERE s." STUDY_IS_RUNNING " AND s." STUDY_IS_OURS " "
        "ORDER BY coalesce(active.n, 0), s.id LIMIT 1000",
        "");
}

enum ht_status db_is_busy(struct db *db, bool *busy, struct ht_error *err)
{
    return db_ask_bool(db, busy, err,
                       "SELECT EXISTS(SELECT 1 FROM studies "
                       "WHERE " STUDY_IS_DELETED " OR (" STUDY_CONTINUES
                       " AND " STUDY_IS_OURS ")) "
                       "OR EXISTS(SELECT 1 FROM attempts WHERE " ATTEMPT_IS_OPEN
                       ")",
                       "");
}

/* --- changing them --- */

enum ht_status db_study_next_id(struct db *db, int64_t *id,
                                struct ht_error *err)
{
    int64_t last;
    const enum ht_status status = db_ask_integer(
        db, &last, err, "SELECT seq FROM sqlite_sequence WHERE name='studies'",
        "");
    if (status == HT_OK)
        *id = last + 1;
    return status;
}

enum ht_status db_study_insert(struct db *db, const struct study_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO studies(id, project, location, name, display, "
                  "spec, state, reason, seed, ends_as, created_ms, kind, "
                  "submitted, job_spec, updated_ms) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?11, ?12, ?13, ?14, "
                  "?11)",
                  "isssssisiiiiss", row->id, row->project, row->location,
                  row->name, row->display, row->spec, (int64_t)row->state,
                  row->reason, row->seed, (int64_t)row->ends_as,
                  row->created_ms, (int64_t)row->kind,
                  row->submitted == NULL ? "" : row->submitted,
                  row->job_spec == NULL ? "" : row->job_spec);
}

enum ht_status db_study_save(struct db *db, const struct study_row *row,
                             struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE studies SET spec=?2, display=?3, state=?4, "
                  "reason=?5, exhausted=?6, ends_as=?7, started_ms=?8, "
                  "ended_ms=?9, ended=?10, first_run_used_ms=?11, "
                  "submitted=?12, job_spec=?13 WHERE id=?1",
                  "issisiiiisiss", row->id, row->spec, row->display,
                  (int64_t)row->state, row->reason, (int64_t)row->exhausted,
                  (int64_t)row->ends_as, row->started_ms, row->ended_ms,
                  row->ended == NULL ? "" : row->ended, row->first_run_used_ms,
                  row->submitted == NULL ? "" : row->submitted,
                  row->job_spec == NULL ? "" : row->job_spec);
}

enum ht_status db_study_add_revision(struct db *db, int64_t study,
                                     int64_t *wall_ms, int64_t *revision,
                                     struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status = db_query(
        db, &stmt, err,
        "UPDATE studies SET revision=revision+1, updated_ms="
        "CASE WHEN updated_ms-?2 BETWEEN 0 AND 3600000 THEN updated_ms "
        "ELSE ?2 END WHERE id=?1 RETURNING updated_ms, revision",
        "ii", study, *wall_ms);
    if (status == HT_OK)
        status = db_first(db, stmt, err, missing);
    if (status != HT_OK)
        return status;
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
    if (status == HT_OK)
        status = db_ask_integer(db, id, err,
                                "SELECT next_trial-1 FROM studies WHERE id=?",
                                "i", study);
    return status;
}

enum ht_status db_study_skip_trials(struct db *db, struct study_row *row,
                                    int64_t next, struct ht_error *err)
{
    row->withdrawn += next - row->next_trial;
    row->next_trial = next;
    return db_run(db, err,
                  "UPDATE studies SET next_trial=?2, withdrawn=?3 WHERE id=?1",
                  "iii", row->id, row->next_trial, row->withdrawn);
}

enum ht_status db_study_count_withdrawn(struct db *db, struct study_row *row,
                                        struct ht_error *err)
{
    row->withdrawn++;
    return db_run(db, err, "UPDATE studies SET withdrawn=?2 WHERE id=?1", "ii",
                  row->id, row->withdrawn);
}

enum ht_status db_study_set_progress(struct db *db, int64_t study,
                                     int64_t stale, int64_t gain_ms,
                                     struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE studies SET stale_trials=?2, gain_ms=?3 WHERE id=?1",
                  "iii", study, stale, gain_ms);
}

enum ht_status db_study_set(struct db *db, int64_t study,
                            enum study_number number, int64_t value,
                            struct ht_error *err)
{
    static const char *const updates[] = {
        [STUDY_USED_MS] = "UPDATE studies SET used_ms=?2 WHERE id=?1",
        [STUDY_REFUSALS] = "UPDATE studies SET refusals=?2 WHERE id=?1",
        [STUDY_UNREPORTED] =
            "UPDATE studies SET unreported_in_row=?2 WHERE id=?1"};
    return db_run(db, err, updates[number], "ii", study, value);
}

enum ht_status db_study_set_crash(struct db *db, int64_t study, int64_t crashes,
                                  const char *crash, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE studies SET crashes=?2, crash=?3 WHERE id=?1", "iis",
                  study, crashes, crash);
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
        "DELETE FROM report_use WHERE (study, trial, attempt, replica) IN "
        "(SELECT study, trial, attempt, replica FROM report_use "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM tree_uses WHERE (study, trial, attempt, step, kind, tree) "
        "IN (SELECT study, trial, attempt, step, kind, tree FROM tree_uses "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM rungs WHERE (study, trial, rung) IN (SELECT study, "
        "trial, rung FROM rungs WHERE study=?1 LIMIT ?2)",
        "DELETE FROM metadata WHERE version IN (SELECT version FROM metadata "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM events WHERE study=?1 AND revision IN (SELECT revision "
        "FROM events WHERE study=?1 LIMIT ?2)",
        "DELETE FROM checkpoints WHERE id IN (SELECT id FROM checkpoints "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM trial_usage WHERE (study, trial, attempt, replica, "
        "device) "
        "IN (SELECT study, trial, attempt, replica, device FROM trial_usage "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM attempts WHERE (study, trial, n) IN (SELECT study, trial, "
        "n FROM attempts WHERE study=?1 LIMIT ?2)",
        "DELETE FROM trials WHERE study=?1 AND id IN (SELECT id FROM trials "
        "WHERE study=?1 LIMIT ?2)",
        "DELETE FROM changes WHERE study=?1 AND ?2>0",
        "DELETE FROM trial_counts WHERE study=?1 AND ?2>0",
        "DELETE FROM prior_results WHERE study=?1 AND ?2>0",
        "DELETE FROM priors WHERE study=?1 AND ?2>0",
        "DELETE FROM specs WHERE study=?1 AND ?2>0",
        "DELETE FROM studies WHERE id=?1 AND ?2>0",
    };
    for (size_t i = 0; i < sizeof slices / sizeof *slices && limit > 0; i++) {
        const enum ht_status status =
            db_run(db, err, slices[i], "ii", study, limit);
        if (status != HT_OK)
            return status;
        limit -= sqlite3_changes64(db->handle);
    }
    return db_ask_bool(db, left, err, "SELECT 1 FROM studies WHERE id=?", "i",
                       study);
}
