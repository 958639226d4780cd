#include "tuner/db/confirm.h"

#include "tuner/db/internal.h"
#include "tuner/db/states.h"

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
    return db_ask_trials(db, arena, list, err,
                         ranking->maximize ? highest : lowest, "ii",
                         ranking->study, ranking->n);
}

enum ht_status db_confirm_list(struct db *db, struct arena *arena,
                               int64_t study, struct trial_list *list,
                               struct ht_error *err)
{
    return db_ask_trials(
        db, arena, list, err,
        "SELECT " DB_TRIAL_COLUMNS " FROM trials INDEXED BY trials_confirm "
        "WHERE study=? AND " TRIAL_CONFIRMS " ORDER BY confirms, id",
        "i", study);
}
