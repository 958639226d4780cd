/* end_rules.h - what the rows of a study call for: its end, or more trials.
 *
 * Pure decisions on rows already read; nothing is changed here. Core thread. */
#ifndef HT_TUNER_STUDY_END_RULES_H
#define HT_TUNER_STUDY_END_RULES_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/db/db.h"
#include "tuner/db/rows.h"

/* What one settling works on. */
struct settling {
    struct core *core;
    struct arena *arena;
    struct study_row row;
    const struct job *job;
    struct trial_counts counts;
    int64_t used_ms; /* running time up to now */
};

struct ending {
    enum study_state as;
    const char *reason; /* NULL: it goes on */
};

/* Fills counts, used_ms and job of the row, in this order.
 * HT_CORRUPT  the stored job cannot be read; the rest is filled */
enum ht_status study_look(struct settling *settling, struct ht_error *err);

/* Trials that are not final, and those of them that are not paused. */
int64_t study_open_trials(const struct trial_counts *counts);
int64_t study_busy_trials(const struct trial_counts *counts);
/* How many trials are to be asked for now. */
int64_t study_wanted(const struct settling *settling);

/* The first rule that ends the study; end->reason stays NULL when none does.
 * One that only confirms ends as it did before, once nothing runs.
 * `as` is FAILED for too many failures, CANCELLED for a limit, SUCCEEDED for
 * every end by plan. */
enum ht_status study_find_end(struct settling *settling, struct ending *end,
                              struct ht_error *err);
/* When rules of time have to be looked at again (monotonic ms). */
int64_t study_next_end_ms(const struct settling *settling);
/* Once nothing runs: an end by plan without any success is a failure, and names
 * what went wrong. */
enum ht_status study_resolve_end(struct settling *settling, struct ending *end,
                                 struct ht_error *err);

#endif
