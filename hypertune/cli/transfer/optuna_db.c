#include "hypertune/cli/transfer/optuna_db.h"

#include <stdlib.h>

#include <sqlite3.h>

struct optuna_db {
    sqlite3 *handle;
};

enum ht_status optuna_db_open(const char *path, struct optuna_db **out,
                              struct ht_error *err)
{
    struct optuna_db *db = ht_xcalloc(1, sizeof *db);
    if (sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READONLY, NULL) !=
        SQLITE_OK) {
        ht_fail(err, HT_IO, "cannot open %s: %s", path,
                sqlite3_errmsg(db->handle));
        optuna_db_close(db);
        return HT_IO;
    }
    *out = db;
    return HT_OK;
}

void optuna_db_close(struct optuna_db *db)
{
    if (db != NULL)
        sqlite3_close(db->handle);
    free(db);
}

static void read_row(struct arena *arena, sqlite3_stmt *stmt,
                     struct optuna_row *row)
{
    const int n = sqlite3_column_count(stmt);
    *row = (struct optuna_row){{NULL}};
    for (int i = 0; i < n && i < OPTUNA_COLUMNS; i++) {
        /* Its own text of a real number has 15 digits. */
        const bool real = sqlite3_column_type(stmt, i) == SQLITE_FLOAT;
        const double number = real ? sqlite3_column_double(stmt, i) : 0;
        const unsigned char *text = sqlite3_column_text(stmt, i);
        if (real)
            row->cells[i] = arena_printf(arena, "%.17g", number);
        else if (text != NULL)
            row->cells[i] = arena_strdup(arena, (const char *)text);
    }
}

static void grow(struct arena *arena, struct optuna_rows *rows)
{
    /* Grown at each power of two, so that n tells the capacity. */
    if ((rows->n & (rows->n - 1)) != 0)
        return;
    const size_t room = rows->n == 0 ? 1 : 2 * rows->n;
    struct optuna_row *more = arena_alloc(arena, room, sizeof *more);
    for (size_t i = 0; i < rows->n; i++)
        more[i] = rows->items[i];
    rows->items = more;
}

enum ht_status optuna_db_rows(struct optuna_db *db, struct arena *arena,
                              const char *sql, int64_t key,
                              struct optuna_rows *rows, struct ht_error *err)
{
    struct optuna_rows found = {0};
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK && sqlite3_bind_parameter_count(stmt) > 0)
        code = sqlite3_bind_int64(stmt, 1, key);
    if (code == SQLITE_OK)
        code = SQLITE_ROW;
    while (code == SQLITE_ROW && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        grow(arena, &found);
        read_row(arena, stmt, &found.items[found.n++]);
    }
    sqlite3_finalize(stmt);
    if (code != SQLITE_DONE)
        return ht_fail(err, HT_CORRUPT, "the tables are not Optuna's: %s",
                       sqlite3_errmsg(db->handle));
    *rows = found;
    return HT_OK;
}

bool optuna_db_has(struct optuna_db *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db->handle, NULL, table, column, NULL,
                                         NULL, NULL, NULL, NULL) == SQLITE_OK;
}
