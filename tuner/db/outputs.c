#include "tuner/db/outputs.h"

#include "tuner/db/internal.h"
#include "tuner/db/states.h"

enum ht_status db_outputs_move(struct db *db, int64_t study, int64_t trial,
                               enum outputs_state from, enum outputs_state to,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET outputs=?4 "
                  "WHERE study=?1 AND trial=?2 AND outputs=?3",
                  "iiii", study, trial, (int64_t)from, (int64_t)to);
}

static void read_name(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    (void)arena;
    *(struct outputs_name *)row = (struct outputs_name){
        sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1)};
}

enum ht_status db_outputs_unwanted(struct db *db, struct arena *arena,
                                   const char *runner, size_t limit,
                                   struct outputs_list *list,
                                   struct ht_error *err)
{
    return db_ask_list(db, DB_LIST(arena, read_name, &list->n, &list->rows),
                       err,
                       "SELECT DISTINCT study, trial FROM attempts "
                       "INDEXED BY attempts_unwanted "
                       "WHERE runner=? AND " OUTPUTS_ARE_UNWANTED " LIMIT ?",
                       "si", runner, (int64_t)limit);
}

enum ht_status db_outputs_settle(struct db *db, const char *runner,
                                 const struct outputs_name *name, bool kept,
                                 struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET outputs=?4 WHERE study=?1 AND trial=?2 "
                  "AND runner=?3 AND " OUTPUTS_ARE_UNWANTED,
                  "iisi", name->study, name->trial, runner,
                  (int64_t)(kept ? OUTPUTS_KEPT : OUTPUTS_DISCARDED));
}
