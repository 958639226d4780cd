#include "tuner/db/sessions.h"

#include "tuner/db/internal.h"

static void read_session(sqlite3_stmt *stmt, struct arena *arena, void *into)
{
    struct left_session *row = into;
    (void)arena;
    *row = (struct left_session){sqlite3_column_int64(stmt, 0),
                                 sqlite3_column_int64(stmt, 1)};
}

enum ht_status db_session_list(struct db *db, struct arena *arena,
                               struct session_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_LIST(arena, read_session, &list->n, &list->rows),
                       err, "SELECT id, until_s FROM left_sessions ORDER BY id",
                       "");
}

enum ht_status db_session_count(struct db *db, int64_t *n, struct ht_error *err)
{
    return db_ask_integer(db, n, err, "SELECT count(*) FROM left_sessions", "");
}

enum ht_status db_session_leave(struct db *db, const struct left_session *row,
                                struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT OR IGNORE INTO left_sessions(id, until_s) "
                  "VALUES(?, ?)",
                  "ii", row->id, row->until_s);
}

enum ht_status db_session_prune(struct db *db, int64_t now_s,
                                struct ht_error *err)
{
    return db_run(db, err, "DELETE FROM left_sessions WHERE until_s<?", "i",
                  now_s);
}
