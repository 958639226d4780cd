/* state_counts.h - counts of studies and trials by state. */
#ifndef HT_TUNER_DB_STATE_COUNTS_H
#define HT_TUNER_DB_STATE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct db;

enum { STUDY_STATES = STUDY_DELETING }; /* that are shown */

struct state_counts {
    int64_t studies[STUDY_STATES];
    int64_t trials[TRIAL_STATES]; /* of all studies that are shown */
};
enum ht_status db_state_counts(struct db *db, struct state_counts *counts,
                               struct ht_error *err);

/* Trials of one state in a study that has not ended. */
struct open_state_count {
    int64_t study;
    const char *name;
    enum trial_state state;
    int64_t n;
};
struct open_state_counts {
    size_t n;
    struct open_state_count *rows;
};
/* Of the newest `most` such studies, by study and state. */
enum ht_status db_state_counts_open(struct db *db, struct arena *arena,
                                    size_t most, struct open_state_counts *list,
                                    struct ht_error *err);

#endif
