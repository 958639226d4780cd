#include "tuner/db/order.h"

#include "tuner/db/internal.h"
#include "tuner/db/states.h"

enum ht_status db_trial_order(struct db *db, struct arena *arena, int64_t study,
                              bool maximize, struct id_list *list,
                              struct ht_error *err)
{
    return db_ask_ids(db, arena, list, err,
                      "SELECT id FROM (SELECT id, objective, objective IS NOT "
                      "NULL AND " TRIAL_HAS_RESULT " AND " TRIAL_SEARCHES
                      " AS ranks FROM trials "
                      "WHERE study=?1 AND " TRIAL_IS_SHOWN ") "
                      "ORDER BY ranks DESC, iif(ranks, ?2*objective, 0), id",
                      "ii", study, (int64_t)(maximize ? -1 : 1));
}
