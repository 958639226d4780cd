/* runner.c - the table of runners. */

#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"
#include "tuner/db/write.h"

static void read_runner(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    DB_READ_ROW(runner_row, DB_RUNNER_LIST)
}

enum ht_status db_runner_list(struct db *db, struct arena *arena,
                              struct runner_list *list, struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_runner, &list->n, &list->rows), err,
        "SELECT " DB_RUNNER_COLUMNS " FROM runners ORDER BY id", "");
}

enum ht_status db_runner_busy(struct db *db, const char *runner, int64_t *busy,
                              struct ht_error *err)
{
    return db_ask_integer(
        db, busy, err,
        "SELECT count(*) FROM attempts WHERE runner=? AND " ATTEMPT_IS_OPEN,
        "s", runner);
}

enum ht_status db_runner_exists(struct db *db, const char *id, bool *exists,
                                struct ht_error *err)
{
    return db_ask_bool(db, exists, err, "SELECT 1 FROM runners WHERE id=?", "s",
                       id);
}

enum ht_status db_runner_save(struct db *db, const struct runner_row *row,
                              struct ht_error *err)
{
    return db_run(
        db, err,
        "INSERT INTO runners(id, engine, host, boot, slots, seen_ms, online, "
        "rules) VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET "
        "engine=excluded.engine, host=excluded.host, boot=excluded.boot, "
        "slots=excluded.slots, seen_ms=excluded.seen_ms, "
        "online=excluded.online, rules=excluded.rules",
        "ssssiiis", row->id, row->engine, row->host, row->boot, row->slots,
        row->seen_ms, (int64_t)row->online, row->rules);
}

enum ht_status db_runner_set_online(struct db *db, const char *id, bool online,
                                    int64_t seen_ms, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE runners SET online=?2, seen_ms=?3 WHERE id=?1", "sii",
                  id, (int64_t)online, seen_ms);
}
