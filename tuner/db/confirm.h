/* confirm.h - the trials that confirm others, and those worth confirming. */
#ifndef HT_TUNER_DB_CONFIRM_H
#define HT_TUNER_DB_CONFIRM_H

#include "tuner/db/db.h"
#include "tuner/db/outputs.h"

/* The best SUCCEEDED or STOPPED trials of the search, the best first and each
 * point once, with its best trial. */
enum ht_status db_confirm_finalists(struct db *db, struct arena *arena,
                                    const struct ranking *ranking,
                                    struct trial_list *list,
                                    struct ht_error *err);

/* All confirmations of the study, by the trial they confirm and by id. */
enum ht_status db_confirm_list(struct db *db, struct arena *arena,
                               int64_t study, struct trial_list *list,
                               struct ht_error *err);

#endif
