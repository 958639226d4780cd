#include "tuner/db/event.h"

#include "tuner/db/internal.h"
#include "tuner/db/write.h"

static void read_event(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct event_row *)row = (struct event_row){
        .study = sqlite3_column_int64(stmt, 0),
        .revision = sqlite3_column_int64(stmt, 1),
        .time_ms = sqlite3_column_int64(stmt, 2),
        .kind = db_column_text(arena, stmt, 3),
        .actor = db_column_text(arena, stmt, 10),
        .trial = sqlite3_column_int64(stmt, 4),
        .attempt = sqlite3_column_int64(stmt, 5),
        .from = db_column_text(arena, stmt, 6),
        .to = db_column_text(arena, stmt, 7),
        .reason = db_column_text(arena, stmt, 8),
        .data = db_column_text(arena, stmt, 9),
    };
}

// NOLINTNEXTLINE(readability-function-size): a key, a page and a result
enum ht_status db_event_list(struct db *db, struct arena *arena, int64_t study,
                             int64_t since, size_t limit,
                             struct event_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_LIST(arena, read_event, &list->n, &list->rows),
                       err,
                       "SELECT e.study, revision, e.time_ms, kind, e.trial, "
                       "e.attempt, \"from\", \"to\", reason, "
                       "iif(m.seq IS NULL, data, " DB_MEASURED_DATA "), actor "
                       "FROM events AS e LEFT JOIN measurements AS m "
                       "ON m.study=e.study AND m.trial=e.trial "
                       "AND " DB_IS_RECORD_OF_EVENT "WHERE e.study=? "
                       "AND revision>? ORDER BY revision LIMIT ?",
                       "iii", study, since, (int64_t)limit);
}

enum ht_status db_event_insert(struct db *db, const struct event_row *row,
                               struct ht_error *err)
{
    return db_run(db, err,
                  "INSERT INTO events(study, revision, time_ms, kind, trial, "
                  "attempt, \"from\", \"to\", reason, data, record_attempt, "
                  "record_replica, record_writer, record_seq, actor) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  "iiisiissssrs", row->study, row->revision, row->time_ms,
                  row->kind, row->trial, row->attempt, row->from, row->to,
                  row->reason, row->data, &row->record, row->actor);
}

static void read_head(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    (void)arena;
    *(struct event_head *)row = (struct event_head){
        sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1)};
}

enum ht_status db_event_step(struct db *db, int64_t study, int64_t revision,
                             bool down, struct event_head *head,
                             struct ht_error *err)
{
#define SHOWN                                                                  \
    " AND (kind IN ('study.created', 'study.moved', 'study.changed',"          \
    " 'study.warned', 'trial.moved', 'trial.warned') OR"                       \
    " (kind='attempt.moved' AND \"to\"='ENDED')) ORDER BY revision "
#define FROM_EVENTS "SELECT revision, time_ms FROM events WHERE study=?1"
    static const char up_sql[] =
        FROM_EVENTS " AND revision>=?2" SHOWN "LIMIT 1";
    static const char down_sql[] =
        FROM_EVENTS " AND revision<=?2" SHOWN "DESC LIMIT 1";
#undef FROM_EVENTS
#undef SHOWN
    const struct db_one one = {
        .read = read_head, .row = head, .missing = "no event from there on"};
    return db_ask_one(db, &one, err, down ? down_sql : up_sql, "ii", study,
                      revision);
}

/* Their moments do not fall. Only a restore skips revisions. */
enum ht_status db_event_seek(struct db *db, int64_t study, int64_t last,
                             int64_t time_ms, int64_t *revision,
                             struct ht_error *err)
{
    int64_t low = 1, high = last + 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t moment;
        const enum ht_status status = db_ask_integer(
            db, &moment, err,
            "SELECT coalesce((SELECT time_ms FROM events WHERE study=? "
            "AND revision>=? ORDER BY revision LIMIT 1), ?)",
            "iii", study, middle, INT64_MAX);
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

/* --- deleted trials --- */

static void read_gone(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct event_row *)row =
        (struct event_row){.revision = sqlite3_column_int64(stmt, 0),
                           .data = db_column_text(arena, stmt, 1)};
}

enum ht_status db_event_deletion(struct db *db, struct arena *arena,
                                 const struct event_row *event,
                                 struct event_row *deletion,
                                 struct ht_error *err)
{
    const struct db_one one = {arena, read_gone, deletion,
                               "the trial was not deleted"};
    return db_ask_one(db, &one, err,
                      "SELECT revision, data FROM events WHERE study=? AND "
                      "revision>? AND trial=? AND kind='trial.deleted' LIMIT 1",
                      "iii", event->study, event->revision, event->trial);
}

/* --- changed --- */

enum ht_status db_changed_trials(struct db *db, struct arena *arena,
                                 int64_t study, int64_t since,
                                 struct id_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_IDS(arena, list), err,
                       "SELECT DISTINCT trial FROM events WHERE study=? "
                       "AND revision>? AND trial>0 ORDER BY trial",
                       "ii", study, since);
}
