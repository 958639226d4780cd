/* measurement.c - the tables of measurements and their writers, where a record
 * that arrives again changes nothing. */

#include <math.h>
#include <string.h>

#include "proto/base/text.h"
#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"
#include "tuner/db/write.h"

void db_read_measurement(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    DB_READ_ROW(measurement_row, DB_MEASUREMENT_LIST)
}

/* --- measurements --- */

enum ht_status db_measurement_insert(struct db *db,
                                     const struct measurement_row *row,
                                     bool *inserted, struct ht_error *err)
{
    const enum ht_status status =
        db_run(db, err,
               "INSERT OR IGNORE INTO measurements(" DB_MEASUREMENT_COLUMNS
               ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
               "iiisiiiiss", row->study, row->trial, row->attempt, row->replica,
               (int64_t)row->writer, row->seq, row->step, row->time_ms,
               row->metrics, row->checkpoint);
    if (status == HT_OK)
        *inserted = sqlite3_changes64(db->handle) > 0;
    return status;
}

enum ht_status db_measurement_exists(struct db *db,
                                     const struct replica_key *key,
                                     uint64_t writer, int64_t seq, bool *exists,
                                     struct ht_error *err)
{
    return db_ask_bool(db, exists, err,
                       "SELECT 1 FROM measurements WHERE study=? AND trial=? "
                       "AND attempt=? AND replica=? AND writer=? AND seq=?",
                       "iiisii", key->study, key->trial, key->attempt,
                       key->replica, (int64_t)writer, seq);
}

static enum ht_status missing_record(struct ht_error *err, int64_t study,
                                     int64_t trial)
{
    return ht_fail(err, HT_CORRUPT,
                   "a record of trial %lld of study %lld is missing",
                   (long long)trial, (long long)study);
}

/* Of a study that is being removed, records go before the rows that name them.
 */
#define LOST(table, trial, beginning)                                          \
    "SELECT t.study, t." trial " FROM " table                                  \
    " AS t JOIN studies AS s ON s.id=t.study AND s." STUDY_IS_SHOWN            \
    " WHERE t." beginning "_seq IS NOT NULL AND NOT EXISTS("                   \
    "SELECT 1 FROM measurements AS m WHERE m.study=t.study "                   \
    "AND m.trial=t." trial " AND " DB_IS_RECORD("t." beginning) ") LIMIT 1"

static enum ht_status check_named(struct db *db, const char *sql,
                                  struct ht_error *err)
{
    sqlite3_stmt *stmt;
    bool row = false;
    enum ht_status status = db_query(db, &stmt, err, sql, "");
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK || !row)
        return status;
    status = missing_record(err, sqlite3_column_int64(stmt, 0),
                            sqlite3_column_int64(stmt, 1));
    db_done(stmt);
    return status;
}

enum ht_status db_measurement_check(struct db *db, struct ht_error *err)
{
    static const char *const lost[] = {
        LOST("trials", "id", "latest"), LOST("attempts", "trial", "last"),
        LOST("attempts", "trial", "best"), LOST("events", "trial", "record")};
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < sizeof lost / sizeof *lost; i++)
        status = check_named(db, lost[i], err);
    return status;
}

enum ht_status db_measurement_value(struct db *db,
                                    const struct metric_question *question,
                                    double *value, bool *found,
                                    struct ht_error *err)
{
    const struct replica_key *key = &question->key;
    sqlite3_stmt *stmt;
    enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT j.value, j.type IN ('integer', 'real') "
        "FROM measurements m, json_each(m.metrics) j "
        "WHERE m.study=?1 AND m.trial=?2 AND m.attempt=?3 AND m.replica=?4 "
        "AND j.key=?5 ORDER BY m.step>?6, abs(m.step-?6), m.time_ms DESC, "
        "m.seq DESC LIMIT 1",
        "iiissi", key->study, key->trial, key->attempt, key->replica,
        question->metric, question->step);
    bool row = false;
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    *found = row;
    if (row) {
        const bool number = sqlite3_column_int(stmt, 1) != 0;
        *value = number ? sqlite3_column_double(stmt, 0) : NAN;
        db_done(stmt);
    }
    return HT_OK;
}

enum ht_status db_measurement_around(struct db *db, struct arena *arena,
                                     const struct measurement_row *record,
                                     struct measurement_list *list,
                                     struct ht_error *err)
{
    return db_ask_list(
        db, DB_MEASUREMENTS(arena, list), err,
        "SELECT " DB_MEASUREMENT_COLUMNS " FROM (SELECT * FROM measurements "
        "WHERE study=?1 AND trial=?2 AND attempt=?3 AND replica=?4 AND "
        "writer=?5 AND seq BETWEEN ?6-64 AND ?6+64 UNION "
        "SELECT * FROM (SELECT * FROM measurements WHERE study=?1 AND "
        "trial=?2 AND attempt=?3 AND replica=?4 LIMIT 200)) "
        "ORDER BY step>?7, abs(step-?7), time_ms DESC, seq DESC",
        "iiisiii", record->study, record->trial, record->attempt,
        record->replica, (int64_t)record->writer, record->seq, record->step);
}

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_measurement_page(struct db *db, struct arena *arena,
                                   const struct trial_name *trial, int64_t skip,
                                   size_t limit, struct measurement_list *list,
                                   struct ht_error *err)
{
    return db_ask_list(
        db, DB_MEASUREMENTS(arena, list), err,
        "SELECT " DB_MEASUREMENT_COLUMNS " FROM measurements "
        "WHERE study=? AND trial=? "
        "ORDER BY attempt, CASE attempt WHEN 0 THEN seq END, time_ms, "
        "step, replica, writer, seq LIMIT ? OFFSET ?",
        "iiii", trial->study, trial->trial, (int64_t)limit, skip);
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

enum ht_status db_measurement_get(struct db *db, struct arena *arena,
                                  const struct trial_name *trial,
                                  const struct record_name *name,
                                  struct measurement_row *row,
                                  struct ht_error *err)
{
    const struct db_one one = {arena, db_read_measurement, row,
                               "there is no such record"};
    const enum ht_status status =
        db_ask_one(db, &one, err,
                   "SELECT " DB_MEASUREMENT_COLUMNS " FROM measurements "
                   "WHERE study=? AND trial=? AND attempt=? AND replica=? "
                   "AND writer=? AND seq=?",
                   "iir", trial->study, trial->trial, name);
    return status == HT_NOT_FOUND
               ? missing_record(err, trial->study, trial->trial)
               : status;
}

enum ht_status db_measurement_newest(struct db *db, struct arena *arena,
                                     const struct replica_key *key,
                                     struct measurement_row *row,
                                     struct ht_error *err)
{
    const struct db_one one = {arena, db_read_measurement, row,
                               "nothing was measured"};
    return db_ask_one(db, &one, err,
                      "SELECT " DB_MEASUREMENT_COLUMNS " FROM measurements "
                      "WHERE study=? AND trial=? AND attempt=? AND replica=? "
                      "ORDER BY writer DESC, seq DESC LIMIT 1",
                      "iiis", key->study, key->trial, key->attempt,
                      key->replica);
}

/* --- writers --- */

static void read_writer(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct replica_writer *)row = (struct replica_writer){
        .replica = db_column_text(arena, stmt, 0),
        .row = {.writer = (uint64_t)sqlite3_column_int64(stmt, 1),
                .have = sqlite3_column_int64(stmt, 2),
                .records = sqlite3_column_int64(stmt, 3)}};
}

enum ht_status db_writer_get(struct db *db, const struct replica_key *key,
                             uint64_t writer, struct writer_row *row,
                             struct ht_error *err)
{
    struct replica_writer found = {.row = {.writer = writer}};
    const struct db_one one = {.read = read_writer, .row = &found};
    const enum ht_status status =
        db_ask_one(db, &one, err,
                   "SELECT NULL, writer, have, records FROM writers "
                   "WHERE study=? AND trial=? AND attempt=? AND replica=? "
                   "AND writer=?",
                   "iiisi", key->study, key->trial, key->attempt, key->replica,
                   (int64_t)writer);
    if (status == HT_OK)
        *row = found.row;
    return status;
}

enum ht_status db_writer_set(struct db *db, const struct replica_key *key,
                             const struct writer_row *row, struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO writers(study, trial, attempt, replica, writer, "
                  "have, records) VALUES(?, ?, ?, ?, ?, ?, ?) "
                  "ON CONFLICT DO UPDATE SET have=excluded.have, "
                  "records=excluded.records",
                  "iiisiii", key->study, key->trial, key->attempt, key->replica,
                  (int64_t)row->writer, row->have, row->records);
}

enum ht_status db_attempt_writers(struct db *db, struct arena *arena,
                                  const struct attempt_row *attempt,
                                  struct replica_writer_list *list,
                                  struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_writer, &list->n, &list->rows), err,
        "SELECT replica, writer, have, records FROM writers "
        "WHERE study=? AND trial=? AND attempt=? ORDER BY replica",
        "iii", attempt->study, attempt->trial, attempt->n);
}
