/* failures.h - what is said of a study that has ended although trials failed:
 * that it succeeded is not all there is to know. */
#ifndef HT_TUNER_VIEW_FAILURES_H
#define HT_TUNER_VIEW_FAILURES_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"

struct failures {
    const char *words;  /* "4 of 6 failed"; NULL: nothing is to be said */
    bool mostly;        /* more than half of the trials that ended */
    const char *reason; /* that most of them share, when `mostly`, or "" */
};

/* Of a study that SUCCEEDED or was STOPPED; a custom job is as its one trial
 * is. */
enum ht_status failures_find(struct db *db, struct arena *arena,
                             const struct study_row *study,
                             const struct trial_counts *counts,
                             struct failures *failures, struct ht_error *err);

/* Adds the member `failures`, unless there is nothing to say. */
void failures_add(cJSON *object, const struct failures *failures);

#endif
