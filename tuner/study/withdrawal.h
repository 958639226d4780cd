/* withdrawal.h - takes back suggestions whose trials have not begun: their
 * points and places in the budget are free again. Core thread. */
#ifndef HT_TUNER_STUDY_WITHDRAWAL_H
#define HT_TUNER_STUDY_WITHDRAWAL_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/db/rows.h"

struct core;

/* Whether a waiting trial is one: it has not begun, it confirms no other, and
 * no person chose it. */
bool withdrawal_may_be(const struct trial_row *trial);

/* Deletes the trial (`trial.deleted`, with that reason) and counts it in `row`.
 */
enum ht_status withdrawal_of(struct core *core, struct study_row *row,
                             const struct job *job,
                             const struct trial_row *trial, const char *reason,
                             struct ht_error *err);

/* The same of all of them: what the study searches has changed. */
enum ht_status withdrawal_of_all(struct core *core, struct study_row *row,
                                 const struct job *job, struct ht_error *err);

#endif
