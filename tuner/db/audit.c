#include "tuner/db/audit.h"

#include "tuner/db/db.h"
#include "tuner/db/internal.h"

enum ht_status db_audit_insert(struct db *db, const struct audit_row *row,
                               int64_t *id, struct ht_error *err)
{
    const enum ht_status status = db_run(
        db, err,
        "INSERT INTO audit(time_ms, last_ms, count, refused, code, who, peer, "
        "forwarded, action, project, study, study_name, trial, detail, error) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iiiiisssssissss", row->time_ms, row->last_ms, row->count,
        (int64_t)row->refused, row->code, row->who, row->peer, row->forwarded,
        row->action, row->project, row->study, row->study_name, row->trial,
        row->detail, row->error);
    if (status == HT_OK)
        *id = sqlite3_last_insert_rowid(db->handle);
    return status;
}

/* The id of a line whose transaction failed is given again, hence the rest. */
enum ht_status db_audit_count(struct db *db, int64_t id,
                              const struct audit_row *row, bool *found,
                              struct ht_error *err)
{
    const enum ht_status status =
        db_run(db, err,
               "UPDATE audit SET count=count+1, last_ms=? WHERE id=? AND who=? "
               "AND peer=? AND action=? AND study=? AND code=?",
               "iisssii", row->last_ms, id, row->who, row->peer, row->action,
               row->study, row->code);
    *found = status == HT_OK && sqlite3_changes(db->handle) > 0;
    return status;
}

static void read_line(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct audit_row *)row = (struct audit_row){
        .id = sqlite3_column_int64(stmt, 0),
        .time_ms = sqlite3_column_int64(stmt, 1),
        .last_ms = sqlite3_column_int64(stmt, 2),
        .count = sqlite3_column_int64(stmt, 3),
        .refused = sqlite3_column_int64(stmt, 4) != 0,
        .code = sqlite3_column_int64(stmt, 5),
        .who = db_column_text(arena, stmt, 6),
        .peer = db_column_text(arena, stmt, 7),
        .forwarded = db_column_text(arena, stmt, 8),
        .action = db_column_text(arena, stmt, 9),
        .project = db_column_text(arena, stmt, 10),
        .study = sqlite3_column_int64(stmt, 11),
        .study_name = db_column_text(arena, stmt, 12),
        .trial = db_column_text(arena, stmt, 13),
        .detail = db_column_text(arena, stmt, 14),
        .error = db_column_text(arena, stmt, 15),
    };
}

static void turn_round(struct audit_list *list)
{
    for (size_t i = 0, j = list->n; i + 1 < j; i++) {
        const struct audit_row first = list->rows[i];
        list->rows[i] = list->rows[--j];
        list->rows[j] = first;
    }
}

enum ht_status db_audit_list(struct db *db, struct arena *arena,
                             const struct audit_filter *filter,
                             struct audit_list *list, int64_t *last,
                             struct ht_error *err)
{
#define CHOSEN                                                                 \
    "SELECT id, time_ms, last_ms, count, refused, code, who, peer, "           \
    "forwarded, action, project, study, study_name, trial, detail, error "     \
    "FROM audit WHERE id>?1 AND last_ms>=?2 AND (?3='' OR who=?3) AND "        \
    "(?4='' OR study_name=?4 OR CAST(study AS TEXT)=?4) ORDER BY id "
    static const char up_sql[] = CHOSEN "LIMIT ?5";
    static const char down_sql[] = CHOSEN "DESC LIMIT ?5";
#undef CHOSEN
    const bool newest = filter->since < 0;
    /* Before the lines: none that it covers can be missing in them. */
    enum ht_status status =
        db_ask_integer(db, last, err, "SELECT max(id) FROM audit", "");
    if (status == HT_OK)
        status =
            db_ask_list(db, DB_LIST(arena, read_line, &list->n, &list->rows),
                        err, newest ? down_sql : up_sql, "iissi",
                        newest ? 0 : filter->since, filter->after_ms,
                        filter->who, filter->study, (int64_t)filter->limit);
    if (status == HT_OK && newest)
        turn_round(list);
    return status;
}

static enum ht_status prune_beyond(struct db *db, bool refused,
                                   const struct audit_bounds *bounds,
                                   struct ht_error *err)
{
    int64_t n;
    const enum ht_status status = db_ask_integer(
        db, &n, err, "SELECT count(*) FROM audit WHERE refused=?", "i",
        (int64_t)refused);
    if (status != HT_OK || n <= bounds->most)
        return status;
    n -= bounds->most;
    return db_run(db, err,
                  "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE "
                  "refused=? ORDER BY id LIMIT ?)",
                  "ii", (int64_t)refused, n < bounds->step ? n : bounds->step);
}

enum ht_status db_audit_prune(struct db *db, const struct audit_bounds *bounds,
                              int64_t *deleted, struct ht_error *err)
{
    const int64_t before = db_total_changes(db);
    enum ht_status status =
        db_run(db, err,
               "DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY "
               "id LIMIT ?) AND last_ms<?",
               "ii", bounds->step, bounds->before_ms);
    for (int refused = 0; status == HT_OK && refused <= 1; refused++)
        status = prune_beyond(db, refused != 0, bounds, err);
    *deleted = db_total_changes(db) - before;
    return status;
}
