#include "tuner/db/silence.h"

#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"

enum ht_status db_silence_set(struct db *db, const struct attempt_row *row,
                              struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE attempts SET silent_ms=?4, usual_ms=?5, hung=?6, "
                  "reason=?7 WHERE study=?1 AND trial=?2 AND n=?3",
                  "iiiiiis", row->study, row->trial, row->n, row->silent_ms,
                  row->usual_ms, (int64_t)row->hung, row->reason);
}

enum ht_status db_silence_running(struct db *db, struct arena *arena,
                                  struct attempt_list *list,
                                  struct ht_error *err)
{
    /* The index of open attempts holds few others. */
    return db_ask_list(db, DB_ATTEMPTS(arena, list), err,
                       "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                       "WHERE " ATTEMPT_IS_OPEN " AND " ATTEMPT_IS_RUNNING,
                       "");
}

enum ht_status db_silence_list(struct db *db, struct arena *arena,
                               int64_t study, size_t most,
                               struct attempt_list *list, struct ht_error *err)
{
    return db_ask_list(db, DB_ATTEMPTS(arena, list), err,
                       "SELECT " DB_ATTEMPT_COLUMNS " FROM attempts "
                       "WHERE study=? AND " ATTEMPT_IS_SILENT
                       " ORDER BY trial, n LIMIT ?",
                       "ii", study, (int64_t)most);
}

enum ht_status db_silence_count(struct db *db, int64_t *n, struct ht_error *err)
{
    return db_ask_integer(
        db, n, err, "SELECT count(*) FROM attempts WHERE " ATTEMPT_IS_SILENT,
        "");
}

enum ht_status db_silence_reports(struct db *db, struct arena *arena,
                                  const struct attempt_row *row,
                                  const char *replica,
                                  struct report_times *times,
                                  struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, db_read_integer, &times->n, &times->items), err,
        "SELECT max(time_ms) AS newest FROM measurements WHERE study=? "
        "AND trial=? AND attempt=? AND replica=? GROUP BY step "
        "ORDER BY newest DESC LIMIT ?",
        "iiisi", row->study, row->trial, row->n, replica,
        (int64_t)NEWEST_REPORTS);
}
