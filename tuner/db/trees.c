#include "tuner/db/trees.h"

#include "tuner/db/internal.h"

enum ht_status db_tree_save(struct db *db, const struct tree_row *row,
                            struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO trees(project, tree, bytes, files, created_ms, "
                  "unused_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?5) "
                  "ON CONFLICT DO UPDATE SET unused_ms=?5 WHERE unused_ms>0",
                  "ssiii", row->project, row->tree, row->bytes, row->files,
                  row->created_ms);
}

enum ht_status db_tree_has(struct db *db, const char *project, const char *tree,
                           bool *has, struct ht_error *err)
{
    return db_ask_bool(db, has, err,
                       "SELECT 1 FROM trees WHERE project=? AND tree=?", "ss",
                       project, tree);
}

static void read_tree(sqlite3_stmt *stmt, struct arena *arena, void *into)
{
    *(struct tree_row *)into =
        (struct tree_row){.project = db_column_text(arena, stmt, 0),
                          .tree = db_column_text(arena, stmt, 1),
                          .bytes = sqlite3_column_int64(stmt, 2),
                          .files = sqlite3_column_int64(stmt, 3),
                          .created_ms = sqlite3_column_int64(stmt, 4),
                          .unused_ms = sqlite3_column_int64(stmt, 5)};
}

enum ht_status db_tree_get(struct db *db, struct arena *arena,
                           const char *project, const char *tree,
                           struct tree_row *row, struct ht_error *err)
{
    const struct db_one one = {arena, read_tree, row,
                               "the store has no such tree any more"};
    return db_ask_one(db, &one, err,
                      "SELECT project, tree, bytes, files, created_ms, "
                      "unused_ms FROM trees WHERE project=? AND tree=?",
                      "ss", project, tree);
}

enum ht_status db_tree_renew(struct db *db, const char *project,
                             const char *tree, int64_t now_ms,
                             struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trees SET unused_ms=?3 "
                  "WHERE project=?1 AND tree=?2 AND unused_ms>0",
                  "ssi", project, tree, now_ms);
}

enum ht_status db_tree_use_add(struct db *db, const struct tree_use *use,
                               struct ht_error *err)
{
    bool has = false;
    enum ht_status status = db_tree_has(db, use->project, use->tree, &has, err);
    if (status == HT_OK && !has)
        return ht_fail(err, HT_NOT_FOUND,
                       "the project \"%.100s\" has no tree %.64s: send it "
                       "first",
                       use->project, use->tree);
    if (status == HT_OK)
        status =
            db_run(db, err,
                   "INSERT OR IGNORE INTO tree_uses(project, tree, study, "
                   "trial, attempt, step, kind) "
                   "VALUES(?, ?, ?, ?, ?, ?, ?)",
                   "ssiiiii", use->project, use->tree, use->study, use->trial,
                   use->attempt, use->step, (int64_t)use->kind);
    if (status == HT_OK)
        status = db_run(db, err,
                        "UPDATE trees SET unused_ms=0 "
                        "WHERE project=? AND tree=? AND unused_ms>0",
                        "ss", use->project, use->tree);
    return status;
}

enum ht_status db_tree_use_remove(struct db *db, const struct tree_use *use,
                                  struct ht_error *err)
{
    return db_run(db, err,
                  "DELETE FROM tree_uses WHERE study=? AND trial=? AND "
                  "attempt=? AND step=? AND kind=? AND tree=?",
                  "iiiiis", use->study, use->trial, use->attempt, use->step,
                  (int64_t)use->kind, use->tree);
}

enum ht_status db_tree_expire(struct db *db, int64_t now_ms, int64_t grace_ms,
                              int64_t *n, struct ht_error *err)
{
    enum ht_status status =
        db_run(db, err,
               "UPDATE trees SET unused_ms=?1 WHERE unused_ms=0 AND NOT EXISTS("
               "SELECT 1 FROM tree_uses AS u WHERE u.project=trees.project AND "
               "u.tree=trees.tree)",
               "i", now_ms);
    if (status == HT_OK)
        status = db_run(
            db, err,
            "DELETE FROM trees WHERE unused_ms>0 AND unused_ms<=?1 AND NOT "
            "EXISTS(SELECT 1 FROM tree_uses AS u WHERE "
            "u.project=trees.project AND u.tree=trees.tree)",
            "i", now_ms - grace_ms);
    if (status == HT_OK)
        *n = sqlite3_changes64(db->handle);
    return status;
}

static void read_name(sqlite3_stmt *stmt, struct arena *arena, void *into)
{
    struct tree_name *name = into;
    name->project = db_column_text(arena, stmt, 0);
    name->tree = db_column_text(arena, stmt, 1);
}

enum ht_status db_tree_names(struct db *db, struct arena *arena,
                             struct tree_names *names, struct ht_error *err)
{
    return db_ask_list(db, DB_LIST(arena, read_name, &names->n, &names->rows),
                       err, "SELECT project, tree FROM trees ORDER BY 1, 2",
                       "");
}

enum ht_status db_tree_count(struct db *db, int64_t *n, struct ht_error *err)
{
    return db_ask_integer(db, n, err, "SELECT count(*) FROM trees", "");
}
