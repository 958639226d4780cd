/* write.h - the core's part of the database: its writes, and the queries for
 * them.
 *
 * Everything here runs inside the transaction of the core's dispatcher. The
 * save functions write every column that a row's owner may change; counters
 * have their own functions. */
#ifndef HT_TUNER_DB_WRITE_H
#define HT_TUNER_DB_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/token.h"
#include "tuner/db/db.h"
#include "tuner/db/rows.h"

/* --- studies --- */

/* The id the next study will get; ids are never used twice. */
enum ht_status db_study_next_id(struct db *db, int64_t *id,
                                struct ht_error *err);
/* Writes what is fixed at creation: names, kind, spec, seed, state, reason,
 * ends_as, created_ms, submitted and job_spec. Counters begin with 0, and
 * updated_ms as created_ms. HT_INTERNAL when the id is taken. */
enum ht_status db_study_insert(struct db *db, const struct study_row *row,
                               struct ht_error *err);
/* Writes spec, what was sent, display, state, reason, exhausted, ends_as,
 * ended, times. */
enum ht_status db_study_save(struct db *db, const struct study_row *row,
                             struct ht_error *err);
/* Counts one change. *wall_ms is the present time and becomes the moment of
 * the revision: not before that of the revision before it, unless the clock
 * was set back by more than an hour since. HT_NOT_FOUND: there is no such
 * study. */
enum ht_status db_study_add_revision(struct db *db, int64_t study,
                                     int64_t *wall_ms, int64_t *revision,
                                     struct ht_error *err);
/* Gives out the id of the next trial, from 1 on; one that confirms another is
 * counted as such. */
enum ht_status db_study_take_trial_id(struct db *db, int64_t study,
                                      bool confirms, int64_t *id,
                                      struct ht_error *err);
/* The next trial gets the id `next`, which is higher; those between are never
 * used. *row follows. */
enum ht_status db_study_skip_trials(struct db *db, struct study_row *row,
                                    int64_t next, struct ht_error *err);
/* One more suggestion of it is deleted before it began. */
enum ht_status db_study_count_withdrawn(struct db *db, struct study_row *row,
                                        struct ht_error *err);
enum ht_status db_study_set_progress(struct db *db, int64_t study,
                                     int64_t stale, int64_t gain_ms,
                                     struct ht_error *err);
/* Numbers of a study that change one at a time. */
enum study_number {
    STUDY_USED_MS,
    STUDY_REFUSALS,  /* attempts in a row that no runner could begin */
    STUDY_UNREPORTED /* study_row.unreported_in_row */
};
enum ht_status db_study_set(struct db *db, int64_t study,
                            enum study_number number, int64_t value,
                            struct ht_error *err);
/* Whether any attempt of the study has ever run. */
enum ht_status db_study_has_run(struct db *db, int64_t study, bool *has_run,
                                struct ht_error *err);
/* Sets study_row.crashes and .crash. */
enum ht_status db_study_set_crash(struct db *db, int64_t study, int64_t crashes,
                                  const char *crash, struct ht_error *err);
struct id_list {
    size_t n;
    int64_t *ids;
};
/* Without studies that are being deleted. */
enum ht_status db_study_shown(struct db *db, struct arena *arena,
                              struct id_list *list, struct ht_error *err);
/* Ids of the studies that have not ended or are being removed, in no order. */
enum ht_status db_study_unfinished(struct db *db, struct arena *arena,
                                   struct id_list *list, struct ht_error *err);
/* Ids of studies that have not ended and whose trials runners run, the oldest
 * first. */
enum ht_status db_study_served(struct db *db, struct arena *arena,
                               struct id_list *list, struct ht_error *err);
/* Running studies with waiting trials, those with the fewest active first, on
 * equal counts the oldest. */
enum ht_status db_study_waiting(struct db *db, struct arena *arena,
                                struct id_list *list, struct ht_error *err);
/* Removes up to `limit` rows that belong to the study, at last the study
 * itself; *left is false when all is removed. Call it in one transaction after
 * the other, so that no other request waits for long. */
enum ht_status db_study_erase(struct db *db, int64_t study, int64_t limit,
                              bool *left, struct ht_error *err);
/* Whether an attempt runs, a study (none of JOB_STUDY) is neither paused nor
 * ended, or one is being removed. */
enum ht_status db_is_busy(struct db *db, bool *busy, struct ht_error *err);

/* --- trials --- */

/* *inserted is false when the point (and replicate) is already taken. */
enum ht_status db_trial_insert(struct db *db, const struct trial_row *row,
                               bool *inserted, struct ht_error *err);
/* Writes state, attempt, failures, losses, the final measurement, reason,
 * revision, started_ms, ended_ms, stop, rungs_passed and pausing. The counts
 * of db_trial_count() are the caller's. */
enum ht_status db_trial_save(struct db *db, const struct trial_row *row,
                             struct ht_error *err);
/* Writes `latest`; its replica is NULL when a new attempt begins. */
enum ht_status db_trial_set_latest(struct db *db, const struct trial_row *row,
                                   struct ht_error *err);
/* `change` more trials like this one are in that state. */
enum ht_status db_trial_count(struct db *db, const struct trial_row *row,
                              enum trial_state state, int64_t change,
                              struct ht_error *err);
/* Trials neither final nor paused, PREPARED ones among them, in no order. */
enum ht_status db_trial_open(struct db *db, struct arena *arena, int64_t study,
                             size_t limit, struct trial_list *list,
                             struct ht_error *err);
/* PAUSED ones, by id. */
enum ht_status db_trial_paused(struct db *db, struct arena *arena,
                               int64_t study, size_t limit,
                               struct trial_list *list, struct ht_error *err);
/* REQUESTED ones by id, above `after`, at most DB_WAITING_PAGE. */
enum { DB_WAITING_PAGE = 100 };
enum ht_status db_trial_waiting(struct db *db, struct arena *arena,
                                int64_t study, int64_t after,
                                struct trial_list *list, struct ht_error *err);
/* The replicate number that one more trial with this point gets, also after
 * trials of earlier studies that count as the study's own. */
enum ht_status db_trial_next_replicate(struct db *db, int64_t study,
                                       const char *params, int64_t *replicate,
                                       struct ht_error *err);
/* ACTIVE ones that the client was given, by id. */
enum ht_status db_trial_of_client(struct db *db, struct arena *arena,
                                  int64_t study, const char *client,
                                  struct trial_list *list,
                                  struct ht_error *err);
/* Writes `client`, which is not NULL. */
enum ht_status db_trial_set_client(struct db *db, const struct trial_row *row,
                                   struct ht_error *err);
/* Another point, with the replicate number that goes with it. */
enum ht_status db_trial_set_point(struct db *db, const struct trial_row *row,
                                  struct ht_error *err);
/* Writes `outside`. */
enum ht_status db_trial_set_outside(struct db *db, const struct trial_row *row,
                                    struct ht_error *err);
/* Removes the trial with all that belongs to it, and from the counts. */
enum ht_status db_trial_erase(struct db *db, const struct trial_row *row,
                              struct ht_error *err);

/* --- attempts --- */

/* What a lease adds to the row. */
struct attempt_lease { /* what a lease adds to the row */
    /* of the runner that gets it, and the number of its request */
    const char *boot;
    int64_t lease_id;
    /* TOKEN_HASH_BYTES, of the token that reports of the attempt carry;
     * unique */
    const unsigned char *token_hash;
};
/* Writes study, trial, n, state, runner, created_ms and the lease. */
enum ht_status db_attempt_insert(struct db *db, const struct attempt_row *row,
                                 const struct attempt_lease *lease,
                                 struct ht_error *err);
/* Writes state, outcome, exit_code, signal, reason, winner, started_ms and
 * ended_ms. */
enum ht_status db_attempt_save(struct db *db, const struct attempt_row *row,
                               struct ht_error *err);
/* What it ran on, as a JSON object. */
enum ht_status db_attempt_set_facts(struct db *db,
                                    const struct attempt_row *row,
                                    const char *facts, struct ht_error *err);
/* Why it had no objective, as a JSON object. */
enum ht_status db_attempt_set_doctor(struct db *db,
                                     const struct attempt_row *row,
                                     const char *doctor, struct ht_error *err);
/* No attempt has decided the trial any more. */
enum ht_status db_attempt_clear_winner(struct db *db, int64_t study,
                                       int64_t trial, struct ht_error *err);
/* HT_NOT_FOUND: there is no such attempt. */
enum ht_status db_attempt_get(struct db *db, struct arena *arena,
                              const struct trial_name *name,
                              struct attempt_row *row, struct ht_error *err);
/* The attempt whose token has that hash, in any state, also ended.
 * HT_NOT_FOUND: there is none. */
enum ht_status db_attempt_by_token(struct db *db, struct arena *arena,
                                   const unsigned char hash[TOKEN_HASH_BYTES],
                                   struct attempt_row *row,
                                   struct ht_error *err);
/* The attempt has another token from now on; the old one is no longer valid. */
enum ht_status db_attempt_set_token(struct db *db,
                                    const struct attempt_row *row,
                                    const unsigned char hash[TOKEN_HASH_BYTES],
                                    struct ht_error *err);
/* Whether some attempt of the trial has run. */
enum ht_status db_trial_has_run(struct db *db, int64_t study, int64_t trial,
                                bool *has_run, struct ht_error *err);
/* Attempts not ENDED of all runners, by study and trial. */
enum ht_status db_attempt_all_open(struct db *db, struct arena *arena,
                                   struct attempt_list *list,
                                   struct ht_error *err);
/* Not ENDED, of that runner. */
enum ht_status db_attempt_open(struct db *db, struct arena *arena,
                               const char *runner, struct attempt_list *list,
                               struct ht_error *err);
/* STARTING ones that this very lease request was given, or one of the ones that
 * it replaces. */
struct lease_key {
    const char *runner, *boot;
    int64_t since, id;
};
/* Those that still wait to begin: a request that comes again gets the same. */
enum ht_status db_attempt_leased(struct db *db, struct arena *arena,
                                 const struct lease_key *key,
                                 struct attempt_list *list,
                                 struct ht_error *err);

/* The candidates for the final measurement, kept while records come in so
 * that the end of a trial needs no scan: the newest master record with the
 * objective, and the best finite one. */
struct attempt_scores {
    /* NULL metrics: there is none. */
    struct measurement_row last, best;
};
/* HT_CORRUPT: a candidate is named whose record is missing. */
enum ht_status db_scores_get(struct db *db, struct arena *arena,
                             const struct attempt_row *row,
                             struct attempt_scores *scores,
                             struct ht_error *err);
/* Stores the names of both records (NULL replica: none), not the records. */
enum ht_status db_scores_set(struct db *db, const struct attempt_row *row,
                             const struct attempt_scores *scores,
                             struct ht_error *err);

/* --- measurements --- */

/* Names a replica of an attempt; a client reports as attempt 0 and "client". */
struct replica_key {
    int64_t study, trial, attempt;
    const char *replica;
};

/* What a replica reported of a metric at a step; where it did not, the last
 * time before that, or else the first time after. NaN for a stored value that
 * is no number: a NaN or an infinity. */
struct metric_question {
    struct replica_key key;
    const char *metric;
    int64_t step;
};
/* *found is false, and *value as before, when it never reported the metric. */
enum ht_status db_measurement_value(struct db *db,
                                    const struct metric_question *question,
                                    double *value, bool *found,
                                    struct ht_error *err);
/* Where to look for what the record lacks: up to 64 records before and behind
 * it by the same writer and the first 200 of its replica, in the order in
 * which a value counts: of its step, of steps before, nearest first, of later
 * ones. */
enum ht_status db_measurement_around(struct db *db, struct arena *arena,
                                     const struct measurement_row *record,
                                     struct measurement_list *list,
                                     struct ht_error *err);
/* *inserted is false when the key exists; then nothing has changed. */
enum ht_status db_measurement_insert(struct db *db,
                                     const struct measurement_row *row,
                                     bool *inserted, struct ht_error *err);
/* Whether the record is stored, without changing anything. */
enum ht_status db_measurement_exists(struct db *db,
                                     const struct replica_key *key,
                                     uint64_t writer, int64_t seq, bool *exists,
                                     struct ht_error *err);

/* The last one by writer and seq. HT_NOT_FOUND: there is none. */
enum ht_status db_measurement_newest(struct db *db, struct arena *arena,
                                     const struct replica_key *key,
                                     struct measurement_row *row,
                                     struct ht_error *err);

/* How much of one writer's records has come. */
struct writer_row {
    uint64_t writer;
    int64_t have;    /* highest seq without a gap below */
    int64_t records; /* that came, stored or not */
};
struct writer_list {
    size_t n;
    struct writer_row *rows;
};
/* Zeroes when the writer is new. */
enum ht_status db_writer_get(struct db *db, const struct replica_key *key,
                             uint64_t writer, struct writer_row *row,
                             struct ht_error *err);
/* Adds the writer's row or replaces it. */
enum ht_status db_writer_set(struct db *db, const struct replica_key *key,
                             const struct writer_row *row,
                             struct ht_error *err);
struct replica_writer {
    const char *replica;
    struct writer_row row;
};
struct replica_writer_list {
    size_t n;
    struct replica_writer *rows;
};
/* All writers of an attempt, grouped by replica. */
enum ht_status db_attempt_writers(struct db *db, struct arena *arena,
                                  const struct attempt_row *attempt,
                                  struct replica_writer_list *list,
                                  struct ht_error *err);

/* --- events and runners --- */

/* The revision comes from db_study_add_revision(). With a `record` its data is
 * read from that measurement. */
enum ht_status db_event_insert(struct db *db, const struct event_row *row,
                               struct ht_error *err);
enum ht_status db_runner_exists(struct db *db, const char *id, bool *exists,
                                struct ht_error *err);
/* Adds the runner or replaces all it had. */
enum ht_status db_runner_save(struct db *db, const struct runner_row *row,
                              struct ht_error *err);
/* `seen_ms`: wall clock, when it connected or went. */
enum ht_status db_runner_set_online(struct db *db, const char *id, bool online,
                                    int64_t seen_ms, struct ht_error *err);

#endif
