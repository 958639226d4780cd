#include "tuner/db/db.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/damage.h"
#include "tuner/db/file.h"
#include "tuner/db/internal.h"
#include "tuner/db/page_vfs.h"

/* The longest wait of requests for the WAL. */
enum { TRUNCATE_BUSY_MS = 20 };

/* What SQLite finds without memory says nothing of the file. */
static enum ht_status fail_damaged(const struct db *db, const char *why,
                                   struct ht_error *err)
{
    if (memory_misses() != db->misses)
        return ht_fail(err, HT_UNAVAILABLE, MEMORY_REFUSAL);
    if (db->kind->is_main)
        damage_note(why);
    return ht_fail(err, HT_CORRUPT, "the database is damaged: %s", why);
}

/* Translates SQLite's last error: no memory, a full or failing disk and a lock
 * are HT_UNAVAILABLE, a damaged file HT_CORRUPT, anything else our own bug. */
static enum ht_status fail(struct db *db, int rc, const char *sql,
                           struct ht_error *err)
{
    const char *why = sqlite3_errmsg(db->handle);
    if (rc == SQLITE_IOERR_DATA)
        return fail_damaged(db, page_vfs_finding(), err);
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return ht_fail(err, HT_UNAVAILABLE, MEMORY_REFUSAL);
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return ht_fail(err, HT_UNAVAILABLE, "the database cannot store: %s",
                       why);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return fail_damaged(db, why, err);
    default:
        return ht_fail(err, HT_INTERNAL, "%s (in: %.80s)", why, sql);
    }
}

enum ht_status db_exec(struct db *db, const char *sql, struct ht_error *err)
{
    const int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? HT_OK : fail(db, rc, sql, err);
}

static enum ht_status prepare(struct db *db, const char *sql,
                              sqlite3_stmt **stmt, struct ht_error *err)
{
    size_t slot = ((uintptr_t)sql >> 3) % DB_STATEMENTS;
    while (db->statements[slot].sql != NULL && db->statements[slot].sql != sql)
        slot = (slot + 1) % DB_STATEMENTS;
    struct db_statement *found = &db->statements[slot];
    if (found->sql == NULL) {
        const int rc = sqlite3_prepare_v3(
            db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &found->stmt, NULL);
        if (rc != SQLITE_OK)
            return fail(db, rc, sql, err);
        found->sql = sql;
    }
    *stmt = found->stmt;
    return HT_OK;
}

/* NULL for all four when it names none. */
static int bind_record(sqlite3_stmt *stmt, int at,
                       const struct record_name *name)
{
    const bool none = name->replica == NULL;
    int rc = none ? sqlite3_bind_null(stmt, at)
                  : sqlite3_bind_int64(stmt, at, name->attempt);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, at + 1, name->replica, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = none ? sqlite3_bind_null(stmt, at + 2)
                  : sqlite3_bind_int64(stmt, at + 2, (int64_t)name->writer);
    if (rc == SQLITE_OK)
        rc = none ? sqlite3_bind_null(stmt, at + 3)
                  : sqlite3_bind_int64(stmt, at + 3, name->seq);
    return rc;
}

static int bind_one(sqlite3_stmt *stmt, int at, char letter, va_list *args)
{
    const struct db_blob *blob;
    const double *optional;
    switch (letter) {
    case 'i':
        return sqlite3_bind_int64(stmt, at, va_arg(*args, int64_t));
    case 'd':
        return sqlite3_bind_double(stmt, at, va_arg(*args, double));
    case 's':
        return sqlite3_bind_text(stmt, at, va_arg(*args, const char *), -1,
                                 SQLITE_STATIC);
    case 'x':
        blob = va_arg(*args, const struct db_blob *);
        return sqlite3_bind_blob64(stmt, at, blob->data, blob->len,
                                   SQLITE_STATIC);
    case 'o':
        optional = va_arg(*args, const double *);
        return optional == NULL ? sqlite3_bind_null(stmt, at)
                                : sqlite3_bind_double(stmt, at, *optional);
    case 'r':
        return bind_record(stmt, at, va_arg(*args, const struct record_name *));
    default:
        return SQLITE_MISUSE;
    }
}

enum ht_status db_vquery(struct db *db, sqlite3_stmt **out,
                         struct ht_error *err, const char *sql,
                         const char *format, va_list *args)
{
    sqlite3_stmt *stmt = NULL;
    db->misses = memory_misses();
    const enum ht_status status = prepare(db, sql, &stmt, err);
    if (status != HT_OK)
        return status;
    for (int at = 1; *format != '\0'; at += *format++ == 'r' ? 4 : 1) {
        const int rc = bind_one(stmt, at, *format, args);
        if (rc != SQLITE_OK)
            return fail(db, rc, sql, err);
    }
    *out = stmt;
    return HT_OK;
}

enum ht_status db_query(struct db *db, sqlite3_stmt **stmt,
                        struct ht_error *err, const char *sql,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const enum ht_status status = db_vquery(db, stmt, err, sql, format, &args);
    va_end(args);
    return status;
}

enum ht_status db_run(struct db *db, struct ht_error *err, const char *sql,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sqlite3_stmt *stmt = NULL;
    const enum ht_status status = db_vquery(db, &stmt, err, sql, format, &args);
    va_end(args);
    if (status != HT_OK)
        return status;
    bool row = false;
    const enum ht_status stepped = db_step(db, stmt, &row, err);
    if (stepped == HT_OK && row)
        db_done(stmt);
    return stepped;
}

enum ht_status db_step(struct db *db, sqlite3_stmt *stmt, bool *row,
                       struct ht_error *err)
{
    const int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        *row = true;
        return HT_OK;
    }
    if (rc == SQLITE_DONE) {
        sqlite3_reset(stmt);
        *row = false;
        return HT_OK;
    }
    const enum ht_status status = fail(db, rc, sqlite3_sql(stmt), err);
    sqlite3_reset(stmt);
    return status;
}

void db_done(sqlite3_stmt *stmt)
{
    sqlite3_reset(stmt);
}

const char *db_column_bytes(sqlite3_stmt *stmt, int column)
{
    const bool is_blob = sqlite3_column_type(stmt, column) == SQLITE_BLOB;
    const void *bytes = is_blob ? sqlite3_column_blob(stmt, column)
                                : sqlite3_column_text(stmt, column);
    if (bytes == NULL &&
        sqlite3_errcode(sqlite3_db_handle(stmt)) == SQLITE_NOMEM)
        ht_out_of_memory();
    return bytes;
}

const char *db_column_text(struct arena *arena, sqlite3_stmt *stmt, int column)
{
    const char *text = db_column_bytes(stmt, column);
    if (text == NULL)
        return NULL;
    return arena_strndup(arena, text,
                         (size_t)sqlite3_column_bytes(stmt, column));
}

struct record_name db_column_record(struct arena *arena, sqlite3_stmt *stmt,
                                    int column)
{
    return (struct record_name){
        .attempt = sqlite3_column_int64(stmt, column),
        .replica = db_column_text(arena, stmt, column + 1),
        .writer = (uint64_t)sqlite3_column_int64(stmt, column + 2),
        .seq = sqlite3_column_int64(stmt, column + 3)};
}

void *db_grow(struct arena *arena, void *rows, size_t n, size_t size)
{
    /* Full exactly when the count is a power of two (or nothing yet). */
    if (n != 0 && (n & (n - 1)) != 0)
        return rows;
    void *larger = arena_alloc(arena, n == 0 ? 1 : 2 * n, size);
    if (n > 0)
        memcpy(larger, rows, n * size);
    return larger;
}

void db_close(struct db *db)
{
    if (db == NULL)
        return;
    sqlite3_stmt *stmt;
    while (db->handle != NULL &&
           (stmt = sqlite3_next_stmt(db->handle, NULL)) != NULL)
        sqlite3_finalize(stmt);
    sqlite3_close(db->handle);
    free(db);
}

/* --- transactions --- */

enum ht_status db_begin(struct db *db, struct ht_error *err)
{
    return db_run(db, err, db->readonly ? "BEGIN" : "BEGIN IMMEDIATE", "");
}

enum ht_status db_commit(struct db *db, struct ht_error *err)
{
    return db->is_lost ? ht_fail(err, HT_UNAVAILABLE, MEMORY_REFUSAL)
                       : db_run(db, err, "COMMIT", "");
}

void db_rollback(struct db *db)
{
    /* Fails only when SQLite already rolled back by itself. */
    db_run(db, NULL, "ROLLBACK", "");
}

enum ht_status db_end(struct db *db, enum ht_status status,
                      struct ht_error *err)
{
    if (status == HT_OK)
        status = db_commit(db, err);
    if (status != HT_OK)
        db_rollback(db);
    return status;
}

bool db_in_transaction(struct db *db)
{
    return !db->is_lost && sqlite3_get_autocommit(db->handle) == 0;
}

int64_t db_total_changes(struct db *db)
{
    return sqlite3_total_changes64(db->handle);
}

enum ht_status db_savepoint(struct db *db, struct ht_error *err)
{
    return db_run(db, err, "SAVEPOINT request", "");
}

enum ht_status db_release(struct db *db, struct ht_error *err)
{
    return db_run(db, err, "RELEASE request", "");
}

void db_rollback_to(struct db *db)
{
    db_reset(db);
    /* Without memory it may fail, and half of the work would be committed. */
    if (db_run(db, NULL, "ROLLBACK TO request", "") != HT_OK ||
        db_run(db, NULL, "RELEASE request", "") != HT_OK) {
        db_rollback(db);
        db->is_lost = true;
    }
}

void db_reset(struct db *db)
{
    sqlite3_stmt *stmt = NULL;
    while ((stmt = sqlite3_next_stmt(db->handle, stmt)) != NULL)
        sqlite3_reset(stmt);
}

enum ht_status db_checkpoint(struct db *db, bool truncate, struct ht_error *err)
{
    /* Truncating must not wait for a long reader: a later try will do.
     */
    sqlite3_busy_timeout(db->handle, truncate ? TRUNCATE_BUSY_MS : DB_BUSY_MS);
    const int rc = sqlite3_wal_checkpoint_v2(
        db->handle, NULL,
        truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL,
        NULL);
    sqlite3_busy_timeout(db->handle, DB_BUSY_MS);
    if (truncate)
        db->log_is_empty = rc == SQLITE_OK;
    if (rc == SQLITE_OK && truncate)
        db->wal_pages = 0;
    if (rc == SQLITE_OK || rc == SQLITE_BUSY)
        return HT_OK; /* busy: readers are in the way, a later one does it */
    return fail(db, rc, "checkpoint", err);
}

int64_t db_wal_pages(const struct db *db)
{
    return db->wal_pages;
}

bool db_log_is_empty(const struct db *db)
{
    return db->log_is_empty;
}

enum ht_status db_check_place(struct db *db, struct ht_error *err)
{
    return page_vfs_is_in_place(db->handle)
               ? HT_OK
               : fail_damaged(db, page_vfs_finding(), err);
}

enum ht_status db_check(struct db *db, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    page_vfs_forget(); /* quick_check has no words for a page's checksum */
    enum ht_status status =
        db_query(db, &stmt, err, "PRAGMA quick_check(1)", "");
    if (status != HT_OK)
        return status;
    bool row = false;
    status = db_step(db, stmt, &row, err);
    if (status != HT_OK || !row)
        return status;
    const char *finding = db_column_bytes(stmt, 0);
    if (finding != NULL && strcmp(finding, "ok") != 0)
        status = fail_damaged(
            db, page_vfs_finding()[0] != '\0' ? page_vfs_finding() : finding,
            err);
    db_done(stmt);
    return status;
}

/* --- meta --- */

enum ht_status db_meta_get(struct db *db, struct arena *arena, const char *key,
                           const char **value, struct ht_error *err)
{
    return db_ask_text(db, arena, value, err,
                       "SELECT value FROM meta WHERE key=?", "s", key);
}

enum ht_status db_meta_set(struct db *db, const char *key, const char *value,
                           struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO meta(key, value) VALUES(?, ?) "
                  "ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "ss", key, value);
}

enum ht_status db_meta_remove(struct db *db, const char *key,
                              struct ht_error *err)
{
    return db_run(db, err, "DELETE FROM meta WHERE key=?", "s", key);
}
