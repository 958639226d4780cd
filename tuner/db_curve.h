/* db_curve.h - what learning curves are made of. Any connection. */
#ifndef HT_TUNER_DB_CURVE_H
#define HT_TUNER_DB_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "tuner/db.h"

/* Trials that have run and did not fail, the newest `limit` of them, by id
 * from the highest. */
enum ht_status db_curve_trials(struct db *db, struct arena *arena,
                               int64_t study, size_t limit,
                               struct trial_list *list, struct ht_error *err);

/* What the trial's master (or its client) measured: by attempt, then step,
 * then as it came. */
enum ht_status db_curve_records(struct db *db, struct arena *arena,
                                const struct trial_row *trial,
                                const char *master,
                                struct measurement_list *list,
                                struct ht_error *err);

#endif
