/* trial.c - the table of trials. */

#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"
#include "tuner/db/write.h"

void db_read_trial(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    DB_READ_ROW(trial_row, DB_TRIAL_LIST)
}

/* --- finding them --- */

/* Says which numbers its trials have. */
static enum ht_status refuse(struct db *db, struct arena *arena, int64_t study,
                             int64_t id, struct ht_error *err)
{
    const char *text = NULL;
    const enum ht_status status = db_ask_text(
        db, arena, &text, err,
        "SELECT 'study ' || substr(name, 1, 128) || ' has no trial ' || ?2 || "
        "coalesce((SELECT '; its trials are ' || id FROM trials WHERE study=?1 "
        "AND " TRIAL_IS_SHOWN " ORDER BY id LIMIT 1) || "
        "(SELECT ' to ' || id FROM trials WHERE study=?1 AND " TRIAL_IS_SHOWN
        " ORDER BY id DESC LIMIT 1), ', nor any other') "
        "FROM studies WHERE id=?1",
        "ii", study, id);
    return status == HT_OK
               ? ht_fail(err, HT_NOT_FOUND, "%s",
                         text != NULL ? text : "there is no such trial")
               : status;
}

enum ht_status db_trial_get(struct db *db, struct arena *arena, int64_t study,
                            int64_t id, struct trial_row *row,
                            struct ht_error *err)
{
    const struct db_one one = {arena, db_read_trial, row, ""};
    const enum ht_status status =
        db_ask_one(db, &one, err,
                   "SELECT " DB_TRIAL_COLUMNS " FROM trials WHERE study=? "
                   "AND id=?",
                   "ii", study, id);
    return status == HT_NOT_FOUND ? refuse(db, arena, study, id, err) : status;
}

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_trial_list(struct db *db, struct arena *arena, int64_t study,
                             int64_t after, size_t limit,
                             struct trial_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_TRIALS(arena, list), err,
                       "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                       "WHERE study=? AND id>? AND " TRIAL_IS_SHOWN
                       " ORDER BY id LIMIT ?",
                       "iii", study, after, (int64_t)limit);
}

enum ht_status db_trial_open(struct db *db, struct arena *arena, int64_t study,
                             size_t limit, struct trial_list *list,
                             struct ht_error *err)
{
    return db_ask_list(db, DB_TRIALS(arena, list), err,
                       "SELECT " DB_TRIAL_COLUMNS " FROM trials "
                       "WHERE study=? AND " TRIAL_IS_OPEN " LIMIT ?",
                       "ii", study, (int64_t)limit);
}

enum ht_status db_trial_paused(struct db *db, struct arena *arena,
                               int64_t study, size_t limit,
                               struct trial_list *list, struct ht_error *err)
{
    return db_ask_list(
        db, DB_TRIALS(arena, list), err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials "
        "INDEXED BY trials_paused WHERE study=? AND " TRIAL_IS_PAUSED " "
        "ORDER BY id LIMIT ?",
        "ii", study, (int64_t)limit);
}

enum ht_status db_trial_waiting(struct db *db, struct arena *arena,
                                int64_t study, int64_t after,
                                struct trial_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_TRIALS(arena, list), err,
                       "SELECT " DB_TRIAL_COLUMNS
                       " FROM trials INDEXED BY trials_open "
                       "WHERE study=? AND " TRIAL_IS_REQUESTED
                       " AND " TRIAL_IS_OPEN " AND id>? ORDER BY id LIMIT ?",
                       "iii", study, after, (int64_t)DB_WAITING_PAGE);
}

enum ht_status db_trial_of_client(struct db *db, struct arena *arena,
                                  int64_t study, const char *client,
                                  struct trial_list *list, struct ht_error *err)
{
    /* Few are active, while a client may have evaluated many. */
    return db_ask_list(db, DB_TRIALS(arena, list), err,
                       "SELECT " DB_TRIAL_COLUMNS " FROM trials INDEXED BY "
                       "trials_open WHERE study=? AND " TRIAL_IS_ACTIVE
                       " AND " TRIAL_IS_OPEN " AND client=? ORDER BY id",
                       "is", study, client);
}

enum ht_status db_trial_next_replicate(struct db *db, int64_t study,
                                       const char *params, int64_t *replicate,
                                       struct ht_error *err)
{
    return db_ask_integer(
        db, replicate, err,
        "SELECT max(ifnull(max(replicate)+1, 0), (SELECT count(*) "
        "FROM prior_results WHERE study=?1 AND point=?2)) "
        "FROM trials WHERE study=?1 AND params=?2",
        "is", study, params);
}

enum ht_status db_trial_undone(struct db *db, const struct event_row *event,
                               int64_t until, bool *undone,
                               struct ht_error *err)
{
    return db_ask_bool(
        db, undone, err,
        "SELECT 1 FROM events WHERE study=? AND revision>? AND revision<=? "
        "AND trial=? AND (kind='trial.deleted' OR (kind='trial.moved' AND "
        "\"from\" IN ('SUCCEEDED', 'STOPPED', 'FAILED', 'INFEASIBLE', "
        "'CANCELLED', 'PAUSED'))) LIMIT 1",
        "iiii", event->study, event->revision, until, event->trial);
}

enum ht_status db_trial_unreported(struct db *db, struct arena *arena,
                                   int64_t study, int64_t after,
                                   struct trial_list *list,
                                   struct ht_error *err)
{
    return db_ask_list(
        db, DB_TRIALS(arena, list), err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials WHERE study=?1 AND id>?2 AND "
        "state=" SQL(TRIAL_INFEASIBLE) " AND EXISTS(SELECT 1 FROM attempts AS "
                                       "a WHERE a.study=trials.study AND "
                                       "a.trial=trials.id AND "
                                       "a.n=trials.attempt AND a.outcome=?3 "
                                       "AND a.doctor<>'') "
                                       "ORDER BY id LIMIT ?4",
        "iiii", study, after, (int64_t)OUTCOME_SUCCEEDED,
        (int64_t)DB_UNREPORTED_MOST);
}

/* Trials that are looked at. */
#define RECOGNISED_IN "100"

enum ht_status db_trial_recognised(struct db *db, struct arena *arena,
                                   int64_t study, const char **pattern,
                                   struct ht_error *err)
{
    return db_ask_text(
        db, arena, pattern, err,
        "SELECT json_extract(doctor, '$.pattern') AS pattern FROM attempts "
        "WHERE study=? AND trial<=" RECOGNISED_IN " AND doctor<>'' AND "
        "pattern IS NOT NULL GROUP BY pattern "
        "ORDER BY count(*) DESC, min(trial) LIMIT 1",
        "i", study);
}

#define FINAL "('SUCCEEDED', 'STOPPED', 'FAILED', 'INFEASIBLE', 'CANCELLED')"

enum ht_status db_results_changed(struct db *db, int64_t study, int64_t since,
                                  bool *changed, struct ht_error *err)
{
    return db_ask_bool(db, changed, err,
                       "SELECT EXISTS(SELECT 1 FROM events WHERE study=?1 AND "
                       "revision>?2 AND "
                       "(kind='trial.deleted' OR (kind='trial.moved' AND "
                       "(\"from\" IN " FINAL " OR \"to\" IN " FINAL
                       ")))) OR EXISTS(SELECT 1 FROM specs WHERE study=?1 AND "
                       "revision>?2)",
                       "ii", study, since);
}

enum ht_status db_trial_common_failure(struct db *db, struct arena *arena,
                                       int64_t study, const char **reason,
                                       struct ht_error *err)
{
    return db_ask_text(
        db, arena, reason, err,
        "SELECT coalesce((SELECT reason FROM trials WHERE study=? "
        "AND " TRIAL_IS_FAILED " AND " TRIAL_SEARCHES " "
        "GROUP BY reason ORDER BY count(*) DESC, min(id) LIMIT 1), '')",
        "i", study);
}

enum ht_status db_trial_latest(struct db *db, struct arena *arena,
                               const struct trial_row *trial,
                               struct measurement_row *row,
                               struct ht_error *err)
{
    const struct trial_name name = {trial->study, trial->id, 0};
    *row = (struct measurement_row){0};
    return trial->latest.replica == NULL
               ? HT_OK
               : db_measurement_get(db, arena, &name, &trial->latest, row, err);
}

/* --- how many --- */

int64_t trial_counts_all(const struct trial_counts *counts,
                         enum trial_state state)
{
    return counts->of[state] + counts->confirming[state];
}

static int64_t add_up(const int64_t by_state[TRIAL_STATES],
                      bool (*is_meant)(enum trial_state state))
{
    int64_t n = 0;
    for (int state = 0; state < TRIAL_STATES; state++)
        n += is_meant((enum trial_state)state) ? by_state[state] : 0;
    return n;
}

int64_t trial_counts_failed(const int64_t by_state[TRIAL_STATES])
{
    return add_up(by_state, db_trial_state_is_failed);
}

int64_t trial_counts_ended(const int64_t by_state[TRIAL_STATES])
{
    return add_up(by_state, db_trial_state_is_final);
}

static void read_counts(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct trial_counts *counts = row;
    const int state = sqlite3_column_int(stmt, 0);
    (void)arena;
    counts->of[state] = sqlite3_column_int64(stmt, 1);
    counts->confirming[state] = sqlite3_column_int64(stmt, 2);
}

enum ht_status db_trial_counts(struct db *db, int64_t study,
                               struct trial_counts *counts,
                               struct ht_error *err)
{
    struct trial_counts found = {0};
    const struct db_one each = {.read = read_counts, .row = &found};
    const enum ht_status status =
        db_ask_each(db, &each, err,
                    "SELECT state, n-confirming, confirming FROM trial_counts "
                    "WHERE study=?",
                    "i", study);
    if (status == HT_OK)
        *counts = found;
    return status;
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

/* --- changing them --- */

enum ht_status db_trial_insert(struct db *db, const struct trial_row *row,
                               bool *inserted, struct ht_error *err)
{
    const enum ht_status status = db_run(
        db, err,
        "INSERT INTO trials(study, id, state, params, replicate, "
        "ordinal, reason, created_ms, client, chosen_by_person, why, confirms, "
        "outside) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT(study, params, replicate) DO NOTHING",
        "iiisiisisisii", row->study, row->id, (int64_t)row->state, row->params,
        row->replicate, row->ordinal, row->reason, row->created_ms,
        row->client == NULL ? "" : row->client, (int64_t)row->chosen_by_person,
        row->why == NULL ? "" : row->why, row->confirms, (int64_t)row->outside);
    if (status == HT_OK)
        *inserted = sqlite3_changes64(db->handle) > 0;
    return status;
}

enum ht_status db_trial_save(struct db *db, const struct trial_row *row,
                             struct ht_error *err)
{
    return db_run(
        db, err,
        "UPDATE trials SET state=?3, attempt=?4, failures=?5, "
        "losses=?6, objective=?7, final_step=?8, final_metrics=?9, "
        "reason=?10, revision=?11, started_ms=?12, ended_ms=?13, "
        "final_elapsed_ms=?14, stop=?15, rungs_passed=?16, pausing=?17 "
        "WHERE study=?1 AND id=?2",
        "iiiiiioissiiiisii", row->study, row->id, (int64_t)row->state,
        row->attempt, row->failures, row->losses,
        row->has_objective ? &row->objective : NULL, row->final_step,
        row->final_metrics, row->reason, row->revision, row->started_ms,
        row->ended_ms, row->final_elapsed_ms,
        row->stop == NULL ? "" : row->stop, row->rungs_passed,
        (int64_t)row->pausing);
}

enum ht_status db_trial_set_latest(struct db *db, const struct trial_row *row,
                                   struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET latest_attempt=?3, latest_replica=?4, "
                  "latest_writer=?5, latest_seq=?6 WHERE study=?1 AND id=?2",
                  "iir", row->study, row->id, &row->latest);
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
                  "UPDATE trials SET params=?3, replicate=?4, why=?5 "
                  "WHERE study=?1 AND id=?2",
                  "iisis", row->study, row->id, row->params, row->replicate,
                  row->why);
}

enum ht_status db_trial_set_outside(struct db *db, const struct trial_row *row,
                                    struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET outside=?3 WHERE study=?1 AND id=?2",
                  "iii", row->study, row->id, (int64_t)row->outside);
}

enum ht_status db_trial_outside_count(struct db *db, int64_t study, int64_t *n,
                                      struct ht_error *err)
{
    return db_ask_integer(db, n, err,
                          "SELECT count(*) FROM trials INDEXED BY "
                          "trials_outside WHERE study=? AND " TRIAL_IS_OUTSIDE,
                          "i", study);
}

enum ht_status db_trial_erase(struct db *db, const struct trial_row *row,
                              struct ht_error *err)
{
    static const char *const parts[] = {
        /* Its events stay. */
        "UPDATE events SET data=coalesce((SELECT " DB_MEASURED_DATA
        " FROM measurements AS m WHERE m.study=?1 AND m.trial=?2 "
        "AND " DB_IS_RECORD_OF_EVENT "), ''), record_attempt=NULL, "
        "record_replica=NULL, record_writer=NULL, record_seq=NULL "
        "WHERE study=?1 AND trial=?2 AND record_seq IS NOT NULL "
        "AND EXISTS(SELECT 1 FROM measurements WHERE study=?1 AND trial=?2)",
        "DELETE FROM measurements WHERE study=? AND trial=?",
        "DELETE FROM writers WHERE study=? AND trial=?",
        "DELETE FROM report_use WHERE study=? AND trial=?",
        "DELETE FROM checkpoints WHERE study=? AND trial=?",
        "DELETE FROM tree_uses WHERE study=? AND trial=?",
        "DELETE FROM trial_usage WHERE study=? AND trial=?",
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
