/* outputs.h - which output folders of attempts are still wanted.
 *
 * Runs inside the transaction of the core's dispatcher, as write.h. */
#ifndef HT_TUNER_DB_OUTPUTS_H
#define HT_TUNER_DB_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"

/* Attempts of the trial whose outputs are in one state get another. */
enum ht_status db_outputs_move(struct db *db, int64_t study, int64_t trial,
                               enum outputs_state from, enum outputs_state to,
                               struct ht_error *err);

struct outputs_name { /* of a trial that has ended */
    int64_t study, trial;
};
struct outputs_list {
    size_t n;
    struct outputs_name *rows;
};
/* Trials whose outputs the runner is to remove, at most `limit`. */
enum ht_status db_outputs_unwanted(struct db *db, struct arena *arena,
                                   const char *runner, size_t limit,
                                   struct outputs_list *list,
                                   struct ht_error *err);
/* The runner has removed its folders of the trial, or must not. */
enum ht_status db_outputs_settle(struct db *db, const char *runner,
                                 const struct outputs_name *name, bool kept,
                                 struct ht_error *err);

#endif
