#include "tuner/db/report_use.h"

#include "tuner/db/internal.h"

static void read_use(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct report_use *)row =
        (struct report_use){.records = sqlite3_column_int64(stmt, 0),
                            .bytes = sqlite3_column_int64(stmt, 1),
                            .dropped = sqlite3_column_int64(stmt, 2),
                            .held = db_column_text(arena, stmt, 3)};
}

enum ht_status db_report_use_get(struct db *db, struct arena *arena,
                                 const struct replica_key *key,
                                 struct report_use *use, struct ht_error *err)
{
    const struct db_one one = {.arena = arena, .read = read_use, .row = use};
    *use = (struct report_use){.held = ""};
    return db_ask_one(db, &one, err,
                      "SELECT records, bytes, dropped, held FROM report_use "
                      "WHERE study=? AND trial=? AND attempt=? AND replica=?",
                      "iiis", key->study, key->trial, key->attempt,
                      key->replica);
}

enum ht_status db_report_use_set(struct db *db, const struct replica_key *key,
                                 const struct report_use *use,
                                 struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO report_use(study, trial, attempt, replica, "
                  "records, bytes, dropped, held) VALUES(?, ?, ?, ?, ?, ?, ?, "
                  "?) ON CONFLICT DO UPDATE SET records=excluded.records, "
                  "bytes=excluded.bytes, dropped=excluded.dropped, "
                  "held=excluded.held",
                  "iiisiiis", key->study, key->trial, key->attempt,
                  key->replica, use->records, use->bytes, use->dropped,
                  use->held);
}

enum ht_status db_report_use_dropped(struct db *db,
                                     const struct attempt_row *attempt,
                                     int64_t *dropped, struct ht_error *err)
{
    return db_ask_integer(db, dropped, err,
                          "SELECT sum(dropped) FROM report_use "
                          "WHERE study=? AND trial=? AND attempt=?",
                          "iii", attempt->study, attempt->trial, attempt->n);
}
