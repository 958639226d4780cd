/* db.h - the database file: opening, migrations, statements, rows.
 *
 * SQLite is seen by tuner/db*.c alone. One struct db is one connection and
 * belongs to one thread. The core's connection writes; readers open their own,
 * read-only. Every query returns rows with their strings in the given arena. */
#ifndef HT_TUNER_DB_DB_H
#define HT_TUNER_DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"

/* What any function with `err` can return besides what its comment lists:
 *
 *   HT_UNAVAILABLE  the disk is full or fails, or another connection held a
 *                   lock for more than 5 s; a later try may succeed
 *   HT_CORRUPT      SQLite found damage in the file
 *   HT_INTERNAL     anything else: a statement of this program is wrong
 *
 * A list is written on HT_OK only; without rows it has n = 0. A change to a
 * row that does not exist changes nothing and is HT_OK. */
struct db;

/* Opens the file for writing, creates it where it is absent and brings its
 * tables up to date. The caller owns *db, see db_close().
 *
 * HT_PRECONDITION  the file is newer than this program, of before the first
 *                  release, or another program's; it is left as it is
 * HT_CORRUPT       it is no database, or damaged
 * HT_IO            it cannot be opened or migrated */
enum ht_status db_open(const char *path, struct db **db, struct ht_error *err);
/* The same for reading: a file that is absent is HT_IO, one that still has to
 * be migrated HT_PRECONDITION. */
enum ht_status db_open_readonly(const char *path, struct db **db,
                                struct ht_error *err);
/* Frees the connection and its statements; open transactions are rolled back.
 * Accepts NULL. */
void db_close(struct db *db);

/* Transactions belong to the core's dispatcher; a reader brackets one answer
 * with begin and end so that it sees one snapshot, which its first query
 * takes. A writer takes SQLite's write lock at once and may wait 5 s for it.
 * There is no nesting: use a savepoint. */
enum ht_status db_begin(struct db *db, struct ht_error *err);
/* Returns when the changes are on the disk. After a failure the transaction
 * may still be open: db_in_transaction() tells, db_rollback() ends it. */
enum ht_status db_commit(struct db *db, struct ht_error *err);
/* Drops all changes; harmless when no transaction is open. */
void db_rollback(struct db *db);
/* Commits after HT_OK, else rolls back. Returns `status`, or why the commit
 * failed. */
enum ht_status db_end(struct db *db, enum ht_status status,
                      struct ht_error *err);
/* One request within the transaction of several, or a part of one: the newest
 * savepoint is ended first, by db_release(), which keeps its changes, or by
 * db_rollback_to(), which drops them and ignores errors (SQLite may have ended
 * the whole transaction, see db_in_transaction()). */
enum ht_status db_savepoint(struct db *db, struct ht_error *err);
enum ht_status db_release(struct db *db, struct ht_error *err);
void db_rollback_to(struct db *db);
/* Ends the use of all statements, which a jump of memory.h leaves in use. */
void db_reset(struct db *db);
/* False when SQLite ended the transaction by itself after a grave error. */
bool db_in_transaction(struct db *db);
/* Rows changed since the connection was opened: shows whether a step wrote. */
int64_t db_total_changes(struct db *db);
/* Length of the write-ahead log after the last commit of this connection. */
int64_t db_wal_pages(const struct db *db);

/* Copies the write-ahead log (WAL) into the file: PASSIVE from any connection,
 * TRUNCATE, which also empties the log, from the core when idle. HT_OK also
 * when readers or a writer are in the way and something is left; TRUNCATE
 * waits 20 ms for them, PASSIVE not at all. */
enum ht_status db_checkpoint(struct db *db, bool truncate,
                             struct ht_error *err);
/* Whether the newest TRUNCATE of this connection found nothing in the way, and
 * it has not committed since. */
bool db_log_is_empty(const struct db *db);
/* HT_CORRUPT, and the server is read-only, when the file or its log was
 * removed, or another one was put in its place, since it was opened. */
enum ht_status db_check_place(struct db *db, struct ht_error *err);
/* SQLite's quick_check: reads the whole file, which takes seconds for large
 * ones. HT_CORRUPT names the first finding. */
enum ht_status db_check(struct db *db, struct ht_error *err);
/* Looks for records that other rows name; HT_CORRUPT names the first that is
 * missing. */
enum ht_status db_measurement_check(struct db *db, struct ht_error *err);

/* NULL in *value when the key is absent. */
enum ht_status db_meta_get(struct db *db, struct arena *arena, const char *key,
                           const char **value, struct ht_error *err);
enum ht_status db_meta_set(struct db *db, const char *key, const char *value,
                           struct ht_error *err);

/* Nothing happens when the key is absent. */
enum ht_status db_meta_remove(struct db *db, const char *key,
                              struct ht_error *err);

/* --- queries both sides use; HT_NOT_FOUND when there is no such row --- */

/* `key` is a number (digits only) or a name within the scope; of several
 * studies of that name the newest. Studies being deleted are not found. */
enum ht_status db_study_find(struct db *db, struct arena *arena,
                             const struct study_scope *scope, const char *key,
                             struct study_row *row, struct ht_error *err);
/* By id alone: also a study that is being deleted. */
enum ht_status db_study_get(struct db *db, struct arena *arena, int64_t id,
                            struct study_row *row, struct ht_error *err);

/* By display name; of several, a JOB_STUDY comes first, then the newest. */
enum ht_status db_study_by_display(struct db *db, struct arena *arena,
                                   const struct study_scope *scope,
                                   const char *display, struct study_row *row,
                                   struct ht_error *err);

/* Whether a study of the project that is not being deleted has that name; in
 * any location when that is NULL. */
enum ht_status db_study_name_taken(struct db *db, const char *project,
                                   const char *location, const char *name,
                                   bool *taken, struct ht_error *err);

struct study_list {
    size_t n;
    struct study_row *rows;
};
/* Newest first, ids below `before` (0: from the newest), at most `limit`.
 * Studies being deleted are left out. */
enum ht_status db_study_list(struct db *db, struct arena *arena,
                             const struct study_scope *scope, int64_t before,
                             size_t limit, struct study_list *list,
                             struct ht_error *err);

/* How many studies have not ended. */
enum ht_status db_study_open_count(struct db *db, int64_t *n,
                                   struct ht_error *err);

/* Trials by state: of the search, and confirmations of its trials. */
struct trial_counts {
    int64_t of[TRIAL_STATES];
    int64_t confirming[TRIAL_STATES];
};
/* The trials in that state, of the search and confirming ones. */
int64_t trial_counts_all(const struct trial_counts *counts,
                         enum trial_state state);
/* The sums over the failed and the final states of an array such as `of` or
 * `confirming`. PAUSED is not final. */
int64_t trial_counts_failed(const int64_t by_state[TRIAL_STATES]);
int64_t trial_counts_ended(const int64_t by_state[TRIAL_STATES]);
/* PREPARED trials are counted, too. All 0 for a study that does not exist. */
enum ht_status db_trial_counts(struct db *db, int64_t study,
                               struct trial_counts *counts,
                               struct ht_error *err);
/* Trials with the mark `outside`. */
enum ht_status db_trial_outside_count(struct db *db, int64_t study, int64_t *n,
                                      struct ht_error *err);
/* The reason that most failed trials share; "" when there is none. */
enum ht_status db_trial_common_failure(struct db *db, struct arena *arena,
                                       int64_t study, const char **reason,
                                       struct ht_error *err);
/* Also a PREPARED trial. */
enum ht_status db_trial_get(struct db *db, struct arena *arena, int64_t study,
                            int64_t id, struct trial_row *row,
                            struct ht_error *err);
struct trial_list {
    size_t n;
    struct trial_row *rows;
};
enum { DB_UNREPORTED_MOST = 100 };
/* Trials behind the id `after` whose newest attempt succeeded without its
 * objective, by id; at most DB_UNREPORTED_MOST. */
enum ht_status db_trial_unreported(struct db *db, struct arena *arena,
                                   int64_t study, int64_t after,
                                   struct trial_list *list,
                                   struct ht_error *err);
/* The pattern that was recognised most often in what the first trials printed
 * (tuner/study/metric_doctor.h); NULL: none was. */
enum ht_status db_trial_recognised(struct db *db, struct arena *arena,
                                   int64_t study, const char **pattern,
                                   struct ht_error *err);
/* By id, above `after`, at most `limit`; PREPARED ones are left out. */
enum ht_status db_trial_list(struct db *db, struct arena *arena, int64_t study,
                             int64_t after, size_t limit,
                             struct trial_list *list, struct ht_error *err);

struct attempt_list {
    size_t n;
    struct attempt_row *rows;
};
/* All attempts of a trial by n, the newest last. */
enum ht_status db_attempt_list(struct db *db, struct arena *arena,
                               int64_t study, int64_t trial,
                               struct attempt_list *list, struct ht_error *err);

struct attempt_usage { /* of all attempts of a study */
    int64_t begun;     /* that have run */
    int64_t ran_ms;    /* altogether; of running ones until now */
};
/* `wall_ms`: the present time. */
enum ht_status db_attempt_usage(struct db *db, int64_t study, int64_t wall_ms,
                                struct attempt_usage *usage,
                                struct ht_error *err);

/* A record that another row names; HT_CORRUPT when it is missing. */
enum ht_status db_measurement_get(struct db *db, struct arena *arena,
                                  const struct trial_name *trial,
                                  const struct record_name *name,
                                  struct measurement_row *row,
                                  struct ht_error *err);
/* The newest record of a trial; NULL metrics when it has none. */
enum ht_status db_trial_latest(struct db *db, struct arena *arena,
                               const struct trial_row *trial,
                               struct measurement_row *row,
                               struct ht_error *err);
struct measurement_list {
    size_t n;
    struct measurement_row *rows;
};
/* In stored order: attempt, time, step; reports of a client (attempt 0) in
 * order of arrival. At most `limit`, behind the first `skip` of the trial. */
enum ht_status db_measurement_page(struct db *db, struct arena *arena,
                                   const struct trial_name *trial, int64_t skip,
                                   size_t limit, struct measurement_list *list,
                                   struct ht_error *err);
/* The first `limit` of all attempts of a trial, in the same order. */
enum ht_status db_measurement_list(struct db *db, struct arena *arena,
                                   int64_t study, int64_t trial, size_t limit,
                                   struct measurement_list *list,
                                   struct ht_error *err);

struct event_list {
    size_t n;
    struct event_row *rows;
};
/* Events after revision `since`, oldest first, at most `limit`. What a trial
 * measured is in their data. */
enum ht_status db_event_list(struct db *db, struct arena *arena, int64_t study,
                             int64_t since, size_t limit,
                             struct event_list *list, struct ht_error *err);

/* Whether, after that event and up to and with the revision `until`, its trial
 * was deleted or left a final state. */
enum ht_status db_trial_undone(struct db *db, const struct event_row *event,
                               int64_t until, bool *undone,
                               struct ht_error *err);
/* Whether any trial came to a final state after the revision `since`, left one
 * or was deleted. */
enum ht_status db_results_changed(struct db *db, int64_t study, int64_t since,
                                  bool *changed, struct ht_error *err);

struct runner_list {
    size_t n;
    struct runner_row *rows;
};
/* Every runner that was ever connected, by id. */
enum ht_status db_runner_list(struct db *db, struct arena *arena,
                              struct runner_list *list, struct ht_error *err);
/* Attempts not ENDED on that runner. */
enum ht_status db_runner_busy(struct db *db, const char *runner, int64_t *busy,
                              struct ht_error *err);

/* Returns `rows` with room for one more than its n entries; call it before each
 * addition, with n from 0 on. */
void *db_grow(struct arena *arena, void *rows, size_t n, size_t size);

#endif
