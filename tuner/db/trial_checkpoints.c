#include "tuner/db/trial_checkpoints.h"

#include "tuner/db/internal.h"

static void read_checkpoint(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct trial_checkpoint *)row =
        (struct trial_checkpoint){.id = sqlite3_column_int64(stmt, 0),
                                  .study = sqlite3_column_int64(stmt, 1),
                                  .trial = sqlite3_column_int64(stmt, 2),
                                  .attempt = sqlite3_column_int64(stmt, 3),
                                  .tree = db_column_text(arena, stmt, 4),
                                  .step = sqlite3_column_int64(stmt, 5),
                                  .created_ms = sqlite3_column_int64(stmt, 6)};
}

enum ht_status db_trial_checkpoints(struct db *db, struct arena *arena,
                                    int64_t study, int64_t trial,
                                    struct trial_checkpoint_list *list,
                                    struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_checkpoint, &list->n, &list->rows), err,
        "SELECT id, study, trial, attempt, tree, step, "
        "created_ms FROM checkpoints "
        "WHERE study=? AND trial=? ORDER BY id DESC",
        "ii", study, trial);
}

enum ht_status db_attempt_has_progress(struct db *db,
                                       const struct attempt_row *attempt,
                                       bool *has, struct ht_error *err)
{
    return db_ask_bool(db, has, err,
                       "SELECT EXISTS(SELECT 1 FROM checkpoints "
                       "WHERE study=?1 AND trial=?2 AND attempt=?3) OR "
                       "coalesce((SELECT max(step) FROM measurements "
                       "WHERE study=?1 AND trial=?2 AND attempt=?3), -1)>"
                       "coalesce((SELECT max(step) FROM measurements "
                       "WHERE study=?1 AND trial=?2 AND attempt<?3), -1)",
                       "iii", attempt->study, attempt->trial, attempt->n);
}

enum ht_status db_trial_checkpoint_insert(struct db *db,
                                          const struct trial_checkpoint *row,
                                          struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO checkpoints(study, trial, attempt, tree, step, "
                  "created_ms) VALUES(?, ?, ?, ?, ?, ?)",
                  "iiisii", row->study, row->trial, row->attempt, row->tree,
                  row->step, row->created_ms);
}

enum ht_status db_trial_checkpoint_delete(struct db *db, int64_t id,
                                          struct ht_error *err)
{
    return db_run(db, err, "DELETE FROM checkpoints WHERE id=?", "i", id);
}
