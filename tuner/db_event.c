#include "tuner/db_event.h"

#include "tuner/db_internal.h"

enum ht_status db_event_step(struct db *db, int64_t study, int64_t revision,
                             bool down, struct event_head *head,
                             struct ht_error *err)
{
#define TOLD                                                                   \
    " AND (kind IN ('study.created', 'study.moved', 'study.changed',"          \
    " 'study.warned', 'trial.moved') OR"                                       \
    " (kind='attempt.moved' AND \"to\"='ENDED')) ORDER BY revision "
#define FROM_EVENTS "SELECT revision, time_ms FROM events WHERE study=?1"
    static const char up_sql[] = FROM_EVENTS " AND revision>=?2" TOLD "LIMIT 1";
    static const char down_sql[] =
        FROM_EVENTS " AND revision<=?2" TOLD "DESC LIMIT 1";
#undef FROM_EVENTS
#undef TOLD
    sqlite3_stmt *stmt;
    bool row;
    enum ht_status status = db_query(db, &stmt, err, down ? down_sql : up_sql,
                                     "ii", study, revision);
    if (status == HT_OK)
        status = db_step(db, stmt, &row, err);
    if (status != HT_OK)
        return status;
    if (!row)
        return ht_fail(err, HT_NOT_FOUND, "no event from there on");
    *head = (struct event_head){sqlite3_column_int64(stmt, 0),
                                sqlite3_column_int64(stmt, 1)};
    db_done(stmt);
    return HT_OK;
}

/* Revisions have no gaps and their moments do not fall. */
enum ht_status db_event_seek(struct db *db, int64_t study, int64_t last,
                             int64_t time_ms, int64_t *revision,
                             struct ht_error *err)
{
    int64_t low = 1, high = last + 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        sqlite3_stmt *stmt;
        int64_t moment;
        enum ht_status status =
            db_query(db, &stmt, err,
                     "SELECT time_ms FROM events WHERE study=? AND revision=?",
                     "ii", study, middle);
        if (status == HT_OK)
            status = db_integer(db, stmt, INT64_MAX, &moment, err);
        if (status != HT_OK)
            return status;
        if (moment < time_ms)
            low = middle + 1;
        else
            high = middle;
    }
    *revision = low;
    return HT_OK;
}
