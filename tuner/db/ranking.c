#include "tuner/db/ranking.h"

#include "tuner/db/columns.h"
#include "tuner/db/internal.h"
#include "tuner/db/states.h"

#define BEST_IN(is_one, extreme)                                               \
    "SELECT * FROM (SELECT " DB_TRIAL_COLUMNS " FROM trials "                  \
    "INDEXED BY trials_best WHERE study=?1 AND " TRIAL_SEARCHES " AND " is_one \
    " AND objective=(SELECT " extreme "(objective) FROM trials "               \
    "WHERE study=?1 AND " TRIAL_SEARCHES " AND " is_one ") "                   \
    "ORDER BY id LIMIT 1)"
#define BEST_OF(succeeded, stopped, extreme, order)                            \
    BEST_IN(succeeded, extreme)                                                \
    " UNION ALL " BEST_IN(stopped, extreme) " ORDER BY objective " order       \
                                            ", id LIMIT 1"
#define BEST_OF_ALL(extreme, order)                                            \
    BEST_OF(TRIAL_IS_SUCCEEDED, TRIAL_IS_STOPPED, extreme, order)
#define AND_WITHIN " AND " TRIAL_IS_WITHIN
#define BEST_WITHIN(extreme, order)                                            \
    BEST_OF(TRIAL_IS_SUCCEEDED AND_WITHIN, TRIAL_IS_STOPPED AND_WITHIN,        \
            extreme, order)

static const char no_result[] = "there is no trial with a result";

enum ht_status db_trial_best(struct db *db, struct arena *arena, int64_t study,
                             bool maximize, struct trial_row *row,
                             struct ht_error *err)
{
    /* By value first, then by id: both walk the index, so a thousand equal
     * results cost no more than one. */
    static const char highest[] = BEST_OF_ALL("max", "DESC");
    static const char lowest[] = BEST_OF_ALL("min", "ASC");
    const struct db_one one = {arena, db_read_trial, row, no_result};
    return db_ask_one(db, &one, err, maximize ? highest : lowest, "i", study);
}

enum ht_status db_trial_best_within(struct db *db, struct arena *arena,
                                    int64_t study, bool maximize,
                                    struct trial_row *row, struct ht_error *err)
{
    static const char highest[] = BEST_WITHIN("max", "DESC");
    static const char lowest[] = BEST_WITHIN("min", "ASC");
    const struct db_one one = {arena, db_read_trial, row, no_result};
    return db_ask_one(db, &one, err, maximize ? highest : lowest, "i", study);
}

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
    return db_ask_list(db, DB_IDS(arena, list), err,
                       ranking->maximize ? highest : lowest, "ii",
                       ranking->study, ranking->n);
}

#define RESULTS(index)                                                         \
    "SELECT id, objective, final_metrics, outside FROM trials " index          \
    " WHERE study=?1 AND " TRIAL_HAS_RESULT " AND " TRIAL_SEARCHES " "         \
    "AND objective IS NOT NULL AND final_metrics IS NOT NULL "
/* Without it SQLite scans all trials, since it expects few. */
#define MARKED "INDEXED BY trials_optimal"

static void read_result(sqlite3_stmt *stmt, struct arena *arena, void *row)
{
    *(struct front_row *)row =
        (struct front_row){.id = sqlite3_column_int64(stmt, 0),
                           .objective = sqlite3_column_double(stmt, 1),
                           .metrics = db_column_text(arena, stmt, 2),
                           .outside = sqlite3_column_int(stmt, 3) != 0};
}

enum ht_status db_front_marked(struct db *db, struct arena *arena,
                               int64_t study, struct front_rows *list,
                               struct ht_error *err)
{
    return db_ask_list(
        db, DB_LIST(arena, read_result, &list->n, &list->rows), err,
        RESULTS(MARKED) "AND " TRIAL_IS_OPTIMAL " ORDER BY id", "i", study);
}

enum ht_status db_front_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t after,
                                struct front_rows *list, struct ht_error *err)
{
    return db_ask_list(db, DB_LIST(arena, read_result, &list->n, &list->rows),
                       err, RESULTS("") "AND id>?2 ORDER BY id LIMIT ?3", "iii",
                       study, after, (int64_t)DB_FRONT_PAGE);
}

enum ht_status db_front_mark(struct db *db, int64_t study, int64_t trial,
                             bool marked, struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials SET optimal=?3 WHERE study=?1 AND id=?2",
                  "iii", study, trial, (int64_t)marked);
}

enum ht_status db_front_is_marked(struct db *db, int64_t study, int64_t trial,
                                  bool *marked, struct ht_error *err)
{
    return db_ask_bool(db, marked, err,
                       "SELECT 1 FROM trials " MARKED
                       " WHERE study=? AND id=? AND " TRIAL_IS_OPTIMAL,
                       "ii", study, trial);
}

enum ht_status db_front_clear(struct db *db, int64_t study,
                              struct ht_error *err)
{
    return db_run(db, err,
                  "UPDATE trials " MARKED
                  " SET optimal=0 WHERE study=? AND " TRIAL_IS_OPTIMAL,
                  "i", study);
}

/* --- all, the best in front --- */

enum ht_status db_trial_order(struct db *db, struct arena *arena, int64_t study,
                              bool maximize, struct id_list *list,
                              struct ht_error *err)
{
    return db_ask_list(db, DB_IDS(arena, list), err,
                       "SELECT id FROM (SELECT id, objective, objective IS NOT "
                       "NULL AND " TRIAL_HAS_RESULT " AND " TRIAL_SEARCHES
                       " AS ranks FROM trials "
                       "WHERE study=?1 AND " TRIAL_IS_SHOWN ") "
                       "ORDER BY ranks DESC, iif(ranks, ?2*objective, 0), id",
                       "ii", study, (int64_t)(maximize ? -1 : 1));
}

/* --- confirmations --- */

#define FINALISTS(order)                                                       \
    "SELECT " DB_TRIAL_COLUMNS " FROM (SELECT *, row_number() OVER "           \
    "(PARTITION BY params ORDER BY objective " order ", id) AS place "         \
    "FROM trials INDEXED BY trials_best WHERE study=?1 AND " TRIAL_SEARCHES    \
    " "                                                                        \
    "AND " TRIAL_HAS_RESULT " AND objective IS NOT NULL) "                     \
    "WHERE place=1 ORDER BY objective " order ", id LIMIT ?2"

enum ht_status db_confirm_finalists(struct db *db, struct arena *arena,
                                    const struct ranking *ranking,
                                    struct trial_list *list,
                                    struct ht_error *err)
{
    static const char highest[] = FINALISTS("DESC");
    static const char lowest[] = FINALISTS("ASC");
    return db_ask_list(db, DB_TRIALS(arena, list), err,
                       ranking->maximize ? highest : lowest, "ii",
                       ranking->study, ranking->n);
}

enum ht_status db_confirm_list(struct db *db, struct arena *arena,
                               int64_t study, struct trial_list *list,
                               struct ht_error *err)
{
    return db_ask_list(
        db, DB_TRIALS(arena, list), err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials INDEXED BY trials_confirm "
        "WHERE study=? AND " TRIAL_CONFIRMS " ORDER BY confirms, id",
        "i", study);
}
