#include "tuner/db_order.h"

#include "tuner/db_internal.h"

enum ht_status db_trial_order(struct db *db, struct arena *arena, int64_t study,
                              bool maximize, struct id_list *list,
                              struct ht_error *err)
{
    sqlite3_stmt *stmt;
    enum ht_status status = db_query(
        db, &stmt, err,
        "SELECT id FROM (SELECT id, objective, objective IS NOT NULL AND "
        "state IN (4, 5) AND confirms=0 AS ranks FROM trials "
        "WHERE study=?1 AND state<>0) "
        "ORDER BY ranks DESC, iif(ranks, ?2*objective, 0), id",
        "ii", study, (int64_t)(maximize ? -1 : 1));
    struct id_list found = {0};
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        found.ids = db_grow(arena, found.ids, found.n, sizeof *found.ids);
        found.ids[found.n++] = sqlite3_column_int64(stmt, 0);
    }
    if (status == HT_OK)
        *list = found;
    return status;
}
