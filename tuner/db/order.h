/* order.h - the trials of a study with the best in front. */
#ifndef HT_TUNER_DB_ORDER_H
#define HT_TUNER_DB_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"
#include "tuner/db/write.h"

/* Ids of all trials but PREPARED ones: those that SUCCEEDED or STOPPED with an
 * objective by it, the best first, of equals the older one; then all others by
 * id, those that confirm others among them. */
enum ht_status db_trial_order(struct db *db, struct arena *arena, int64_t study,
                              bool maximize, struct id_list *list,
                              struct ht_error *err);

#endif
