/* final_measurement.h - the final measurement of a trial: the record that
 * counts, or the reason why none does. Core thread. */
#ifndef HT_TUNER_STUDY_FINAL_MEASUREMENT_H
#define HT_TUNER_STUDY_FINAL_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct arena;
struct core;

/* What a trial ends with; texts are in the arena of the decision. */
struct final_measurement {
    bool found;       /* a finite objective */
    double objective; /* when found */
    int64_t step;
    const char *metrics; /* JSON of the record, NULL when not found */
    const char *why;     /* not found: the reason in words */
    const char *doctor;  /* ... when it was not reported: JSON, or NULL */
};

/* The end of a trial: what it is decided by, and the outcome. The rows of trial
 * and attempt are the caller's, and the functions below change them. */
struct deciding {
    struct core *core;
    struct arena *arena;
    struct trial_row *trial;
    struct attempt_row *attempt; /* NULL: a client evaluated the trial */
    const struct node *evidence; /* of the runner about metrics, or NULL */
    bool saved; /* the runner saw newer checkpoints that do not travel */
    struct study_row study;
    const struct job *job;
    struct final_measurement final;
};

/* Fills study, job and final for the trial and the attempt, whose rows are
 * unchanged. The diagnosis of a missing metric is stored with the attempt. */
enum ht_status final_measurement_prepare(struct deciding *deciding,
                                         struct ht_error *err);

/* Ends the trial in the state `to` with `final`: its row has the result and the
 * new state, and that of the attempt, if there is one, is marked as the winner;
 * both are saved. `study` and `job` are set. The study's best trials, its
 * progress and its outputs are updated. After a failure the rows may be changed
 * in part, and the caller's savepoint is rolled back. */
enum ht_status final_measurement_end_trial(struct deciding *deciding,
                                           enum trial_state to,
                                           const char *reason,
                                           struct ht_error *err);

#endif
