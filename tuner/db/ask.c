#include <stdarg.h>

#include "tuner/db/internal.h"
#include "tuner/db/write.h"

enum ht_status db_first(struct db *db, sqlite3_stmt *stmt, struct ht_error *err,
                        const char *missing)
{
    bool row;
    const enum ht_status status = db_step(db, stmt, &row, err);
    return status != HT_OK || row ? status
                                  : ht_fail(err, HT_NOT_FOUND, "%s", missing);
}

/* --- one row --- */

enum ht_status db_ask_one(struct db *db, const struct db_one *one,
                          struct ht_error *err, const char *sql,
                          const char *format, ...)
{
    sqlite3_stmt *stmt;
    va_list args;
    va_start(args, format);
    enum ht_status status = db_vquery(db, &stmt, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        status = db_first(db, stmt, err, one->missing);
    if (status != HT_OK)
        return status;
    one->read(stmt, one->arena, one->row);
    db_done(stmt);
    return HT_OK;
}

/* --- one value --- */

enum ht_status db_integer(struct db *db, sqlite3_stmt *stmt, int64_t fallback,
                          int64_t *value, struct ht_error *err)
{
    bool row;
    const enum ht_status status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    *value = fallback;
    if (row) {
        if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
            *value = sqlite3_column_int64(stmt, 0);
        db_done(stmt);
    }
    return HT_OK;
}

enum ht_status db_ask_integer(struct db *db, int64_t *value,
                              struct ht_error *err, const char *sql,
                              const char *format, ...)
{
    sqlite3_stmt *stmt;
    va_list args;
    va_start(args, format);
    const enum ht_status status = db_vquery(db, &stmt, err, sql, format, &args);
    va_end(args);
    return status == HT_OK ? db_integer(db, stmt, 0, value, err) : status;
}

enum ht_status db_ask_bool(struct db *db, bool *is, struct ht_error *err,
                           const char *sql, const char *format, ...)
{
    sqlite3_stmt *stmt;
    int64_t value;
    va_list args;
    va_start(args, format);
    enum ht_status status = db_vquery(db, &stmt, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        status = db_integer(db, stmt, 0, &value, err);
    if (status == HT_OK)
        *is = value != 0;
    return status;
}

enum ht_status db_ask_text(struct db *db, struct arena *arena,
                           const char **text, struct ht_error *err,
                           const char *sql, const char *format, ...)
{
    sqlite3_stmt *stmt;
    bool row;
    va_list args;
    va_start(args, format);
    enum ht_status status = db_vquery(db, &stmt, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    *text = row ? db_column_text(arena, stmt, 0) : NULL;
    if (row)
        db_done(stmt);
    return HT_OK;
}

/* --- rows --- */

static enum ht_status read_rows(struct db *db, sqlite3_stmt *stmt,
                                struct db_rows *rows, struct ht_error *err)
{
    enum ht_status status;
    bool row;
    while ((status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        rows->items = db_grow(rows->arena, rows->items, rows->n, rows->size);
        rows->read(stmt, rows->arena,
                   (char *)rows->items + rows->n++ * rows->size);
    }
    return status;
}

static enum ht_status ask_rows(struct db *db, struct db_rows *rows,
                               struct ht_error *err, const char *sql,
                               const char *format, va_list *args)
{
    sqlite3_stmt *stmt;
    const enum ht_status status = db_vquery(db, &stmt, err, sql, format, args);
    return status == HT_OK ? read_rows(db, stmt, rows, err) : status;
}

enum ht_status db_ask_rows(struct db *db, struct db_rows *rows,
                           struct ht_error *err, const char *sql,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_rows(db, rows, err, sql, format, &args);
    va_end(args);
    return status;
}

static void read_id(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    (void)arena;
    *(int64_t *)row = sqlite3_column_int64(stmt, 0);
}

enum ht_status db_ask_ids(struct db *db, struct arena *arena,
                          struct id_list *list, struct ht_error *err,
                          const char *sql, const char *format, ...)
{
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->ids, .read = read_id};
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_rows(db, &found, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        *list = (struct id_list){found.n, found.items};
    return status;
}

enum ht_status db_ask_trials(struct db *db, struct arena *arena,
                             struct trial_list *list, struct ht_error *err,
                             const char *sql, const char *format, ...)
{
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->rows, .read = db_read_trial};
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_rows(db, &found, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        *list = (struct trial_list){found.n, found.items};
    return status;
}

enum ht_status db_ask_attempts(struct db *db, struct arena *arena,
                               struct attempt_list *list, struct ht_error *err,
                               const char *sql, const char *format, ...)
{
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->rows, .read = db_read_attempt};
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_rows(db, &found, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        *list = (struct attempt_list){found.n, found.items};
    return status;
}
