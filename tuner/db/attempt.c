/* attempt.c - the table of attempts. */

#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"
#include "tuner/db/write.h"

void db_read_attempt(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    DB_READ_ROW(attempt_row, DB_ATTEMPT_LIST)
}

/* --- finding them --- */

enum ht_status db_attempt_list(struct db *db, struct arena *arena,
                               int64_t study, int64_t trial,
                               struct attempt_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_ATTEMPTS(arena, list), err,
                       "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                       "WHERE study=? AND trial=? ORDER BY n",
                       "ii", study, trial);
}

enum ht_status db_trial_has_run(struct db *db, int64_t study, int64_t trial,
                                bool *has_run, struct ht_error *err)
{
    return db_ask_bool(db, has_run, err,
                       "SELECT 1 FROM attempts "
                       "WHERE study=? AND trial=? AND started_ms>0 LIMIT 1",
                       "ii", study, trial);
}

enum ht_status db_attempt_open(struct db *db, struct arena *arena,
                               const char *runner, struct attempt_list *list,
                               struct ht_error *err)
{
    return db_ask_list(db, DB_ATTEMPTS(arena, list), err,
                       "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                       "WHERE runner=? AND " ATTEMPT_IS_OPEN
                       " ORDER BY study, trial, n",
                       "s", runner);
}

enum ht_status db_attempt_all_open(struct db *db, struct arena *arena,
                                   struct attempt_list *list,
                                   struct ht_error *err)
{
    return db_ask_list(db, DB_ATTEMPTS(arena, list), err,
                       "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                       "WHERE " ATTEMPT_IS_OPEN " ORDER BY study, trial, n",
                       "");
}

enum ht_status db_attempt_leased(struct db *db, struct arena *arena,
                                 const struct lease_key *key,
                                 struct attempt_list *list,
                                 struct ht_error *err)
{
    return db_ask_list(db, DB_ATTEMPTS(arena, list), err,
                       "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                       "WHERE runner=? AND boot=? AND lease_id>=? AND "
                       "lease_id<=? AND " ATTEMPT_IS_OPEN
                       " AND " ATTEMPT_IS_STARTING " ORDER BY study, trial, n",
                       "ssii", key->runner, key->boot, key->since, key->id);
}

static const char missing[] = "there is no such attempt";

enum ht_status db_attempt_get(struct db *db, struct arena *arena,
                              const struct trial_name *name,
                              struct attempt_row *row, struct ht_error *err)
{
    const struct db_one one = {arena, db_read_attempt, row, missing};
    return db_ask_one(db, &one, err,
                      "SELECT " DB_ATTEMPT_COLUMNS
                      " FROM attempts WHERE study=? AND trial=? AND n=?",
                      "iii", name->study, name->trial, name->attempt);
}

enum ht_status db_attempt_by_token(struct db *db, struct arena *arena,
                                   const unsigned char hash[TOKEN_HASH_BYTES],
                                   struct attempt_row *row,
                                   struct ht_error *err)
{
    const struct db_blob blob = {hash, TOKEN_HASH_BYTES};
    const struct db_one one = {arena, db_read_attempt, row, missing};
    return db_ask_one(db, &one, err,
                      "SELECT " DB_ATTEMPT_COLUMNS
                      " FROM attempts WHERE token_hash=?",
                      "x", &blob);
}

static void read_usage(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    (void)arena;
    *(struct attempt_usage *)row = (struct attempt_usage){
        .begun = sqlite3_column_int64(stmt, 0),
        .ran_ms = (int64_t)sqlite3_column_double(stmt, 1)};
}

enum ht_status db_attempt_usage(struct db *db, int64_t study, int64_t wall_ms,
                                struct attempt_usage *usage,
                                struct ht_error *err)
{
    const struct db_one one = {.read = read_usage, .row = usage};
    /* The wall clock may have been set back meanwhile. */
    return db_ask_one(db, &one, err,
                      "SELECT count(*), total(max(0, "
                      "iif(ended_ms>0, ended_ms, ?2) - started_ms)) "
                      "FROM attempts WHERE study=?1 AND started_ms>0",
                      "ii", study, wall_ms);
}

/* --- changing them --- */

enum ht_status db_attempt_insert(struct db *db, const struct attempt_row *row,
                                 const struct attempt_lease *lease,
                                 struct ht_error *err)
{
    const struct db_blob hash = {lease->token_hash, TOKEN_HASH_BYTES};
    return db_run(db, err,
                  "INSERT INTO attempts(study, trial, n, state, runner, boot, "
                  "lease_id, token_hash, created_ms, facts) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  "iiiissixis", row->study, row->trial, row->n,
                  (int64_t)row->state, row->runner, lease->boot,
                  lease->lease_id, &hash, row->created_ms,
                  row->facts != NULL ? row->facts : "");
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

/* --- candidates for the final measurement --- */

/* Leaves *score as it is when there is none. */
static enum ht_status read_score(struct db *db, struct arena *arena,
                                 const char *sql, const struct attempt_row *row,
                                 struct measurement_row *score,
                                 struct ht_error *err)
{
    sqlite3_stmt *stmt;
    bool found = false;
    enum ht_status status =
        db_query(db, &stmt, err, sql, "iii", row->study, row->trial, row->n);
    if (status == HT_OK)
        status = db_step(db, stmt, &found, err);
    if (status != HT_OK || !found)
        return status;
    if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
        status = ht_fail(err, HT_CORRUPT,
                         "a record of trial %lld of study %lld is missing",
                         (long long)row->trial, (long long)row->study);
    else
        db_read_measurement(stmt, arena, score);
    db_done(stmt);
    return status;
}

#define SCORE(beginning)                                                       \
    "SELECT " DB_COLUMNS_OF_M(                                                 \
        DB_MEASUREMENT_LIST) " FROM attempts AS a "                            \
                             "LEFT JOIN measurements AS m ON m.study=a.study " \
                             "AND m.trial=a.trial "                            \
                             "AND " DB_IS_RECORD(                              \
                                 beginning) "WHERE a.study=? AND a.trial=? "   \
                                            "AND a.n=? AND " beginning         \
                                            "_seq IS NOT NULL"

enum ht_status db_scores_get(struct db *db, struct arena *arena,
                             const struct attempt_row *row,
                             struct attempt_scores *scores,
                             struct ht_error *err)
{
    static const char last[] = SCORE("last");
    static const char best[] = SCORE("best");
    *scores = (struct attempt_scores){0};
    const enum ht_status status =
        read_score(db, arena, last, row, &scores->last, err);
    return status == HT_OK
               ? read_score(db, arena, best, row, &scores->best, err)
               : status;
}

static struct record_name name_of(const struct measurement_row *row)
{
    return (struct record_name){row->attempt, row->replica, row->writer,
                                row->seq};
}

enum ht_status db_scores_set(struct db *db, const struct attempt_row *row,
                             const struct attempt_scores *scores,
                             struct ht_error *err)
{
    const struct record_name last = name_of(&scores->last);
    const struct record_name best = name_of(&scores->best);
    return db_run(db, err,
                  "UPDATE attempts SET last_attempt=?4, last_replica=?5, "
                  "last_writer=?6, last_seq=?7, best_attempt=?8, "
                  "best_replica=?9, best_writer=?10, best_seq=?11 "
                  "WHERE study=?1 AND trial=?2 AND n=?3",
                  "iiirr", row->study, row->trial, row->n, &last, &best);
}
