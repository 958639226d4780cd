/* end_rules.h - decides from the rows of a study whether it ends or wants more
 * trials.
 *
 * It changes nothing. Core thread. */
#ifndef HT_TUNER_STUDY_END_RULES_H
#define HT_TUNER_STUDY_END_RULES_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/db/db.h"
#include "tuner/db/rows.h"

/* The input of one settling. */
struct settling {
    struct core *core;
    struct arena *arena;
    struct study_row row;
    const struct job *job;
    struct trial_counts counts;
    int64_t used_ms; /* running time up to now */
};

/* How a study ends, if it does. */
struct ending {
    enum study_state as;
    const char *reason; /* NULL: the study continues */
};

/* Fills counts, used_ms and job of the row, in this order.
 * HT_CORRUPT  the stored job cannot be read; the rest is filled */
enum ht_status study_look(struct settling *settling, struct ht_error *err);

/* Trials that are not final, and those of them that are not paused either. */
int64_t study_open_trials(const struct trial_counts *counts);
int64_t study_busy_trials(const struct trial_counts *counts);
/* The number of trials to ask the search for now. */
int64_t study_wanted(const struct settling *settling);

/* The first rule that ends the study; end->reason stays NULL when none does. A
 * study that only confirms ends as it did before, once nothing runs. `as` is
 * FAILED for too many failures, CANCELLED for a limit, SUCCEEDED for every end
 * by plan. */
enum ht_status study_find_end(struct settling *settling, struct ending *end,
                              struct ht_error *err);
/* When the rules of time have to be checked again (monotonic ms). */
int64_t study_next_end_ms(const struct settling *settling);
/* When nothing runs: an end by plan without any success becomes a failure, with
 * the most frequent cause. */
enum ht_status study_resolve_end(struct settling *settling, struct ending *end,
                                 struct ht_error *err);

#endif
