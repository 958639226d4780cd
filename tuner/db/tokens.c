#include "tuner/db/tokens.h"

#include <stdio.h>
#include <string.h>

#include "tuner/db/internal.h"

#define COLUMNS                                                                \
    "id, name, role, project, runner, created_by, hash, old_hash, "            \
    "old_until_ms, created_ms, expires_ms, revoked_ms, study "

static void copy_text(sqlite3_stmt *stmt, int column, char *into, size_t size)
{
    const char *text = db_column_bytes(stmt, column);
    snprintf(into, size, "%s", text != NULL ? text : "");
}

/* The table checks the length. */
static void copy_hash(sqlite3_stmt *stmt, int column, unsigned char *into)
{
    const void *bytes = db_column_bytes(stmt, column);
    if (bytes != NULL && sqlite3_column_bytes(stmt, column) == TOKEN_HASH_BYTES)
        memcpy(into, bytes, TOKEN_HASH_BYTES);
}

static void read_token(sqlite3_stmt *stmt, struct arena *arena, void *into)
{
    struct token_row *row = into;
    (void)arena;
    *row = (struct token_row){
        .id = sqlite3_column_int64(stmt, 0),
        .role = (enum token_role)sqlite3_column_int64(stmt, 2),
        .old_until_ms = sqlite3_column_int64(stmt, 8),
        .created_ms = sqlite3_column_int64(stmt, 9),
        .expires_ms = sqlite3_column_int64(stmt, 10),
        .revoked_ms = sqlite3_column_int64(stmt, 11),
        .study = sqlite3_column_int64(stmt, 12)};
    copy_text(stmt, 1, row->name, sizeof row->name);
    copy_text(stmt, 3, row->project, sizeof row->project);
    copy_text(stmt, 4, row->runner, sizeof row->runner);
    copy_text(stmt, 5, row->created_by, sizeof row->created_by);
    copy_hash(stmt, 6, row->hash);
    copy_hash(stmt, 7, row->old_hash);
}

enum ht_status db_token_list(struct db *db, struct arena *arena,
                             struct token_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_LIST(arena, read_token, &list->n, &list->rows),
                       err, "SELECT " COLUMNS "FROM tokens ORDER BY id", "");
}

enum ht_status db_token_get(struct db *db, struct arena *arena,
                            const char *name, struct token_row *row,
                            struct ht_error *err)
{
    const struct db_one one = {arena, read_token, row,
                               "there is no such token"};
    return db_ask_one(db, &one, err,
                      "SELECT " COLUMNS "FROM tokens WHERE name=?", "s", name);
}

enum ht_status db_token_of_runner(struct db *db, struct arena *arena,
                                  const char *runner, const char **name,
                                  struct ht_error *err)
{
    return db_ask_text(db, arena, name, err,
                       "SELECT name FROM tokens WHERE runner=?", "s", runner);
}

static enum ht_status take_id(struct db *db, struct token_row *row,
                              struct ht_error *err)
{
    return row->id > 0
               ? HT_OK
               : db_ask_integer(db, &row->id, err,
                                "SELECT ifnull(max(id), 0) + 1 FROM tokens",
                                "");
}

enum ht_status db_token_save(struct db *db, struct token_row *row,
                             struct ht_error *err)
{
    const struct db_blob hash = {row->hash, TOKEN_HASH_BYTES},
                         old_hash = {row->old_hash, TOKEN_HASH_BYTES};
    const enum ht_status status = take_id(db, row, err);
    return status != HT_OK
               ? status
               : db_run(db, err,
                        "INSERT OR REPLACE INTO tokens(" COLUMNS
                        ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "isisssxxiiiii", row->id, row->name, (int64_t)row->role,
                        row->project, row->runner, row->created_by, &hash,
                        &old_hash, row->old_until_ms, row->created_ms,
                        row->expires_ms, row->revoked_ms, row->study);
}

enum ht_status db_token_delete(struct db *db, int64_t id, struct ht_error *err)
{
    return db_run(db, err, "DELETE FROM tokens WHERE id=?", "i", id);
}
