/* final_measurement.h - the final measurement of a trial: the record that
 * counts, or the reason why none does. Core thread. */
#ifndef HT_TUNER_STUDY_FINAL_MEASUREMENT_H
#define HT_TUNER_STUDY_FINAL_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct core;

struct final_measurement {
    bool found;       /* a finite objective */
    double objective; /* when found */
    int64_t step;
    const char *metrics; /* JSON of the record, NULL when not found */
    const char *why;     /* not found: the reason in words */
    const char *doctor;  /* ... when it was not reported: JSON, or NULL */
};

/* The input and the outcome of a trial's end. */
struct deciding {
    struct trial_row *trial;
    struct attempt_row *attempt; /* NULL: a client evaluated the trial */
    const struct node *evidence; /* of the runner about metrics, or NULL */
    struct study_row study;
    const struct job *job;
    struct final_measurement final;
};

/* Fills study, job and final for the trial and the attempt, which the caller
 * has set. The diagnosis of a missing metric is kept with the attempt. */
enum ht_status final_measurement_prepare(struct core *core, struct arena *arena,
                                         struct deciding *deciding,
                                         struct ht_error *err);

/* The trial ends in the state `to` with `final`, which the attempt, if there is
 * one, has won; `study` and `job` are set. The study's best trials, its
 * progress and its outputs follow. */
enum ht_status final_measurement_apply(struct core *core, struct arena *arena,
                                       struct deciding *deciding,
                                       enum trial_state to, const char *reason,
                                       struct ht_error *err);

#endif
