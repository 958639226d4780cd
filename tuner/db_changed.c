#include "tuner/db_changed.h"

#include "tuner/db_internal.h"

enum ht_status db_changed_trials(struct db *db, struct arena *arena,
                                 int64_t study, int64_t since,
                                 struct id_list *list, struct ht_error *err)
{
    sqlite3_stmt *stmt;
    int64_t *ids = NULL;
    size_t n = 0;
    enum ht_status status =
        db_query(db, &stmt, err,
                 "SELECT DISTINCT trial FROM events "
                 "WHERE study=? AND revision>? AND trial>0 ORDER BY trial",
                 "ii", study, since);
    bool row = status == HT_OK;
    while (row && (status = db_step(db, stmt, &row, err)) == HT_OK && row) {
        ids = db_grow(arena, ids, n, sizeof *ids);
        ids[n++] = sqlite3_column_int64(stmt, 0);
    }
    if (status == HT_OK)
        *list = (struct id_list){n, ids};
    return status;
}
