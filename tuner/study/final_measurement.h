/* final_measurement.h - the final measurement of a trial: which record counts,
 * or why none does. Core thread. */
#ifndef HT_TUNER_STUDY_FINAL_MEASUREMENT_H
#define HT_TUNER_STUDY_FINAL_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct core;
struct trial_pair;

struct final_measurement {
    bool found;       /* a finite objective */
    double objective; /* when found */
    int64_t step;
    const char *metrics; /* JSON of the record, NULL when not found */
    const char *why;     /* not found: the reason in words */
    const char *doctor;  /* ... when it was not reported: JSON, or NULL */
};

/* All that the end of a trial is decided from. */
struct deciding {
    struct trial_pair *pair;
    const struct node *evidence; /* of the runner about metrics, or NULL */
    struct study_row study;
    const struct job *job;
    struct final_measurement final;
};

/* Fills study, job and final for `pair`, which the caller has set. What the
 * doctor says is kept with the attempt. */
enum ht_status final_measurement_prepare(struct core *core, struct arena *arena,
                                         struct deciding *deciding,
                                         struct ht_error *err);

#endif
