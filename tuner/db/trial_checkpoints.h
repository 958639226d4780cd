/* trial_checkpoints.h - the checkpoints of trials that the store has.
 *
 * Strings of a row are in the arena that the query was given. */
#ifndef HT_TUNER_DB_TRIAL_CHECKPOINTS_H
#define HT_TUNER_DB_TRIAL_CHECKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/db/db.h"
#include "tuner/db/rows.h"

struct trial_checkpoint {
    int64_t id; /* grows; of a new one 0 */
    int64_t study, trial;
    int64_t attempt;  /* that made it */
    const char *tree; /* in the store of the study's project */
    int64_t step;     /* of the report that named it, -1: none did */
    int64_t created_ms;
};
struct trial_checkpoint_list {
    size_t n;
    struct trial_checkpoint *rows;
};

/* The newest first. */
enum ht_status db_trial_checkpoints(struct db *db, struct arena *arena,
                                    int64_t study, int64_t trial,
                                    struct trial_checkpoint_list *list,
                                    struct ht_error *err);
/* Whether the attempt has brought its trial further than the attempts before:
 * it made a checkpoint, or reported a higher step. */
enum ht_status db_attempt_has_progress(struct db *db,
                                       const struct attempt_row *attempt,
                                       bool *has, struct ht_error *err);

/* --- writing; core only --- */

/* The database gives the id. */
enum ht_status db_trial_checkpoint_insert(struct db *db,
                                          const struct trial_checkpoint *row,
                                          struct ht_error *err);
enum ht_status db_trial_checkpoint_delete(struct db *db, int64_t id,
                                          struct ht_error *err);

#endif
