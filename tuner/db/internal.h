/* internal.h - the calls by which modules run SQL: one binds arguments, one
 * gets the next row.
 *
 * Argument formats of the variadic calls, one letter each:
 *   i  int64_t            s  const char * (NULL is NULL)
 *   d  double             x  const struct db_blob *
 *   r  const struct record_name *, which fills four places
 *   o  const double * (NULL is NULL)
 * A statement is prepared once per connection, found again by the address of
 * its SQL, and reset by db_step() when it has no further row. */
#ifndef HT_TUNER_DB_INTERNAL_H
#define HT_TUNER_DB_INTERNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"

enum {
    DB_STATEMENTS = 256, /* slots of the cache; about 80 are used */
    DB_BUSY_MS = 5000    /* for a lock that another connection holds */
};

/* One slot of the cache; it is never given up before db_close(). */
struct db_statement {
    const char *sql; /* address is the key */
    sqlite3_stmt *stmt;
};

struct db_kind;

/* A connection. `statements` is a hash table with open addressing. */
struct db {
    sqlite3 *handle;
    const struct db_kind *kind;
    bool readonly;
    bool is_lost;      /* its transaction could not be rolled back in part */
    uint64_t misses;   /* memory_misses() when the query began */
    int64_t wal_pages; /* after this connection's last commit */
    bool log_is_empty;
    struct db_statement statements[DB_STATEMENTS];
};

/* Bound without a copy, so it outlives the query. */
struct db_blob {
    const void *data;
    size_t len;
};

/* "HtDb": marks the database file as ours. */
#define DB_APPLICATION_ID 0x48744462

/* Any number of statements without arguments and results; not cached. For
 * pragmas and migrations. */
enum ht_status db_exec(struct db *db, const char *sql, struct ht_error *err);
/* One statement for its effect; a row that it returns is ignored. */
enum ht_status db_run(struct db *db, struct ht_error *err, const char *sql,
                      const char *format, ...);
/* Binds the arguments; the caller steps with db_step(). `sql` is a constant
 * (its address is the key of the cache), and one statement is in use only once
 * at a time. Texts and blobs are not copied: they have to last until the last
 * step. On a failure there is nothing to reset. */
enum ht_status db_vquery(struct db *db, sqlite3_stmt **stmt,
                         struct ht_error *err, const char *sql,
                         const char *format, va_list *args);
/* The same with the arguments behind the format. */
enum ht_status db_query(struct db *db, sqlite3_stmt **stmt,
                        struct ht_error *err, const char *sql,
                        const char *format, ...);
/* *row: whether there is a row; without one, and on a failure, the statement
 * is reset and needs no db_done(). */
enum ht_status db_step(struct db *db, sqlite3_stmt *stmt, bool *row,
                       struct ht_error *err);
/* For the caller that leaves before the last row. */
void db_done(sqlite3_stmt *stmt);

/* The bytes of a text or blob, until the next step; NULL for SQL's NULL, never
 * for want of memory. */
const char *db_column_bytes(sqlite3_stmt *stmt, int column);
/* A copy in the arena; NULL for SQL's NULL. Numbers are converted to text. */
const char *db_column_text(struct arena *arena, sqlite3_stmt *stmt, int column);

/* m of measurements is the record that another row of the trial names, in its
 * four columns with that beginning. */
#define DB_IS_RECORD(beginning)                                                \
    "m.attempt=" beginning "_attempt AND m.replica=" beginning                 \
    "_replica AND m.writer=" beginning "_writer AND m.seq=" beginning "_seq "
#define DB_IS_RECORD_OF_EVENT DB_IS_RECORD("record")
/* The data of the event trial.measured for m. */
#define DB_MEASURED_DATA                                                       \
    "'{\"step\":' || m.step || ',\"metrics\":' || m.metrics || '}'"
/* The four columns of a record's name, from that one on. */
struct record_name db_column_record(struct arena *arena, sqlite3_stmt *stmt,
                                    int column);

/* Reads the row that the statement is at into the struct of its table. */
typedef void db_reader(sqlite3_stmt *stmt, struct arena *arena, void *row);
db_reader db_read_study, db_read_trial, db_read_attempt, db_read_measurement;
db_reader db_read_integer, db_read_text; /* the first column */

/* --- ask.c: a query and its result --- */

/* Steps to the first row; HT_NOT_FOUND with that text when there is none. On
 * HT_OK the caller ends with db_done(). */
enum ht_status db_first(struct db *db, sqlite3_stmt *stmt, struct ht_error *err,
                        const char *missing);

/* The first row of a query, read into `row`. Without one HT_NOT_FOUND with the
 * text `missing`; where that is NULL, HT_OK and `row` is unchanged. */
struct db_one {
    struct arena *arena;
    db_reader *read;
    void *row;
    const char *missing;
};
enum ht_status db_ask_one(struct db *db, const struct db_one *one,
                          struct ht_error *err, const char *sql,
                          const char *format, ...);
/* Every row is read into the same `row`, which adds them up. */
enum ht_status db_ask_each(struct db *db, const struct db_one *each,
                           struct ht_error *err, const char *sql,
                           const char *format, ...);

/* The one integer a query gives; 0 without a row or for NULL. */
enum ht_status db_ask_integer(struct db *db, int64_t *value,
                              struct ht_error *err, const char *sql,
                              const char *format, ...);
/* Whether that is not 0. */
enum ht_status db_ask_bool(struct db *db, bool *is, struct ht_error *err,
                           const char *sql, const char *format, ...);
/* The one text; NULL without a row or for SQL's NULL. */
enum ht_status db_ask_text(struct db *db, struct arena *arena,
                           const char **text, struct ht_error *err,
                           const char *sql, const char *format, ...);

/* All rows of a query as a list: a number of rows and a pointer to them. */
struct db_list {
    struct arena *arena; /* of the rows and their texts */
    db_reader *read;
    size_t size; /* of one row */
    size_t *n;
    void *rows; /* the list's pointer */
};
#define DB_LIST(arena, read, n, rows)                                          \
    (&(const struct db_list){arena, read, sizeof **(rows), n, rows})
#define DB_IDS(arena, list)                                                    \
    DB_LIST(arena, db_read_integer, &(list)->n, &(list)->ids)
#define DB_TRIALS(arena, list)                                                 \
    DB_LIST(arena, db_read_trial, &(list)->n, &(list)->rows)
#define DB_ATTEMPTS(arena, list)                                               \
    DB_LIST(arena, db_read_attempt, &(list)->n, &(list)->rows)
#define DB_MEASUREMENTS(arena, list)                                           \
    DB_LIST(arena, db_read_measurement, &(list)->n, &(list)->rows)
/* After a failure the list is unchanged. */
enum ht_status db_ask_list(struct db *db, const struct db_list *list,
                           struct ht_error *err, const char *sql,
                           const char *format, ...);

#endif
