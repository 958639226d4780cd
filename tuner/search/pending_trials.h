/* pending_trials.h - the points of a study's trials whose results are out, by
 * the trials' ids. */
#ifndef HT_TUNER_SEARCH_PENDING_TRIALS_H
#define HT_TUNER_SEARCH_PENDING_TRIALS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/space/space.h"

struct pending_trials {
    size_t n, cap;
    struct pending_trial {
        int64_t id;
        struct value *point; /* owned */
    } * items;
};

/* Copies the point of n values. */
void pending_trials_add(struct pending_trials *pending, int64_t id,
                        const struct value point[], size_t n);
/* Nothing happens when the trial is not pending. */
void pending_trials_drop(struct pending_trials *pending, int64_t id);
void pending_trials_clear(struct pending_trials *pending); /* frees all */

#endif
