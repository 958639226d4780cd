/* changed.h - which trials of a study changed since a revision. */
#ifndef HT_TUNER_DB_CHANGED_H
#define HT_TUNER_DB_CHANGED_H

#include "tuner/db/db.h"
#include "tuner/db/write.h"

/* Ids of the trials that later events are about, rising; some may have been
 * deleted meanwhile. */
enum ht_status db_changed_trials(struct db *db, struct arena *arena,
                                 int64_t study, int64_t since,
                                 struct id_list *list, struct ht_error *err);

#endif
