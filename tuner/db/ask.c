/* ask.c - runs queries and reads their rows. */

#include <stdarg.h>
#include <string.h>

#include "tuner/db/db.h"
#include "tuner/db/internal.h"

enum ht_status db_first(struct db *db, sqlite3_stmt *stmt, struct ht_error *err,
                        const char *missing)
{
    bool row;
    const enum ht_status status = db_step(db, stmt, &row, err);
    return status != HT_OK || row ? status
                                  : ht_fail(err, HT_NOT_FOUND, "%s", missing);
}

/* --- one row --- */

static enum ht_status ask_one(struct db *db, const struct db_one *one,
                              struct ht_error *err, const char *sql,
                              const char *format, va_list *args)
{
    sqlite3_stmt *stmt;
    bool row;
    enum ht_status status = db_vquery(db, &stmt, err, sql, format, args);
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    if (!row)
        return one->missing == NULL
                   ? HT_OK
                   : ht_fail(err, HT_NOT_FOUND, "%s", one->missing);
    one->read(stmt, one->arena, one->row);
    db_done(stmt);
    return HT_OK;
}

enum ht_status db_ask_one(struct db *db, const struct db_one *one,
                          struct ht_error *err, const char *sql,
                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_one(db, one, err, sql, format, &args);
    va_end(args);
    return status;
}

/* --- one value --- */

void db_read_integer(sqlite3_stmt *stmt, struct arena *arena, void *value)
{
    (void)arena;
    *(int64_t *)value = sqlite3_column_int64(stmt, 0);
}

enum ht_status db_ask_integer(struct db *db, int64_t *value,
                              struct ht_error *err, const char *sql,
                              const char *format, ...)
{
    int64_t found = 0;
    const struct db_one one = {.read = db_read_integer, .row = &found};
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_one(db, &one, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        *value = found;
    return status;
}

enum ht_status db_ask_bool(struct db *db, bool *is, struct ht_error *err,
                           const char *sql, const char *format, ...)
{
    int64_t found = 0;
    const struct db_one one = {.read = db_read_integer, .row = &found};
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_one(db, &one, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        *is = found != 0;
    return status;
}

void db_read_text(sqlite3_stmt *stmt, struct arena *arena, void *text)
{
    *(const char **)text = db_column_text(arena, stmt, 0);
}

enum ht_status db_ask_text(struct db *db, struct arena *arena,
                           const char **text, struct ht_error *err,
                           const char *sql, const char *format, ...)
{
    const char *found = NULL;
    const struct db_one one = {arena, db_read_text, &found, NULL};
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_one(db, &one, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK)
        *text = found;
    return status;
}

/* --- all rows --- */

static enum ht_status ask_each(struct db *db, const struct db_one *each,
                               struct ht_error *err, const char *sql,
                               const char *format, va_list *args)
{
    sqlite3_stmt *stmt;
    enum ht_status status = db_vquery(db, &stmt, err, sql, format, args);
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row)
        each->read(stmt, each->arena, each->row);
    return status;
}

enum ht_status db_ask_each(struct db *db, const struct db_one *each,
                           struct ht_error *err, const char *sql,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_each(db, each, err, sql, format, &args);
    va_end(args);
    return status;
}

struct found { /* so far */
    const struct db_list *list;
    size_t n;
    char *rows;
};

static void add_row(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    struct found *found = row;
    const size_t size = found->list->size;
    found->rows = db_grow(arena, found->rows, found->n, size);
    found->list->read(stmt, arena, found->rows + found->n++ * size);
}

enum ht_status db_ask_list(struct db *db, const struct db_list *list,
                           struct ht_error *err, const char *sql,
                           const char *format, ...)
{
    struct found found = {.list = list};
    const struct db_one each = {list->arena, add_row, &found, NULL};
    va_list args;
    va_start(args, format);
    const enum ht_status status = ask_each(db, &each, err, sql, format, &args);
    va_end(args);
    if (status == HT_OK) {
        *list->n = found.n;
        memcpy(list->rows, &found.rows, sizeof found.rows);
    }
    return status;
}
