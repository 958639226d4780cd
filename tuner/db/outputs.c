#include "tuner/db/outputs.h"

#include "tuner/db/internal.h"
#include "tuner/db/states.h"

/* Each state's best by the index of objectives, then the best of both. */
#define RANKED_IN(is_one, order)                                               \
    "SELECT * FROM (SELECT id, objective FROM trials "                         \
    "INDEXED BY trials_best WHERE study=?1 AND " TRIAL_SEARCHES " AND " is_one \
    " AND objective IS NOT NULL ORDER BY objective " order ", id LIMIT ?2)"
#define RANKING(order)                                                         \
    "SELECT id FROM (" RANKED_IN(                                              \
        TRIAL_IS_SUCCEEDED,                                                    \
        order) " UNION ALL " RANKED_IN(TRIAL_IS_STOPPED,                       \
                                       order) ") ORDER BY objective " order    \
                                              ", id LIMIT ?2"

enum ht_status db_trial_ranking(struct db *db, struct arena *arena,
                                const struct ranking *ranking,
                                struct id_list *list, struct ht_error *err)
{
    static const char highest[] = RANKING("DESC");
    static const char lowest[] = RANKING("ASC");
    return db_ask_ids(db, arena, list, err,
                      ranking->maximize ? highest : lowest, "ii",
                      ranking->study, ranking->n);
}

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
    struct db_rows found = {
        .arena = arena, .size = sizeof *list->rows, .read = read_name};
    const enum ht_status status =
        db_ask_rows(db, &found, err,
                    "SELECT DISTINCT study, trial FROM attempts "
                    "INDEXED BY attempts_unwanted "
                    "WHERE runner=? AND " OUTPUTS_ARE_UNWANTED " LIMIT ?",
                    "si", runner, (int64_t)limit);
    if (status == HT_OK)
        *list = (struct outputs_list){found.n, found.items};
    return status;
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
