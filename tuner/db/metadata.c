#include "tuner/db/metadata.h"

#include "tuner/db/internal.h"

enum ht_status db_metadata_set(struct db *db, int64_t study,
                               const struct metadata_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT OR REPLACE INTO metadata(study, trial, ns, key, "
                  "value) VALUES(?, ?, ?, ?, ?)",
                  "iisss", study, row->trial, row->ns, row->key, row->value);
}

enum ht_status db_metadata_get(struct db *db, struct arena *arena,
                               int64_t study, const struct metadata_row *name,
                               const char **value, struct ht_error *err)
{
    return db_ask_text(db, arena, value, err,
                       "SELECT value FROM metadata "
                       "WHERE study=? AND trial=? AND ns=? AND key=?",
                       "iiss", study, name->trial, name->ns, name->key);
}

static void read_metadata(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct metadata_row *)row =
        (struct metadata_row){.version = sqlite3_column_int64(stmt, 0),
                              .trial = sqlite3_column_int64(stmt, 1),
                              .ns = db_column_text(arena, stmt, 2),
                              .key = db_column_text(arena, stmt, 3),
                              .value = db_column_text(arena, stmt, 4)};
}

enum ht_status db_metadata_since(struct db *db, struct arena *arena,
                                 const struct metadata_span *span,
                                 struct metadata_list *list,
                                 struct ht_error *err)
{
    return db_ask_list(db, DB_LIST(arena, read_metadata, &list->n, &list->rows),
                       err,
                       "SELECT version, trial, ns, key, value FROM metadata "
                       "WHERE study=? AND version>? ORDER BY version LIMIT ?",
                       "iii", span->study, span->version, span->most);
}

enum ht_status db_metadata_attributes(struct db *db, struct arena *arena,
                                      const struct metadata_attributes *wanted,
                                      struct metadata_list *list,
                                      struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_metadata, &list->n, &list->rows), err,
        "SELECT version, trial, ns, substr(key, 6), "
        "CASE WHEN length(CAST(value AS BLOB))<=? THEN value END "
        "FROM metadata WHERE study=? AND trial=? AND "
        "ns='optuna' AND key>='user:' AND key<'user;' "
        "ORDER BY key LIMIT ?",
        "iiii", wanted->most_bytes, wanted->study, wanted->trial, wanted->most);
}
