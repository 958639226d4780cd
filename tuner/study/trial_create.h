/* trial_create.h - how a trial comes to be, whoever chose its point: its id,
 * its row, its place in the counts, and the event that tells of it. Core
 * thread; belongs to the caller's savepoint. */
#ifndef HT_TUNER_STUDY_TRIAL_CREATE_H
#define HT_TUNER_STUDY_TRIAL_CREATE_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "tuner/core/core.h"
#include "tuner/db/rows.h"

/* The replicate number of a trial whose point may be there already: the next
 * one is found for it. */
enum { TRIAL_AGAIN = -1 };

/* Inserts a trial of the study. The caller has filled params, state
 * (REQUESTED or ACTIVE), replicate, reason, client, added and confirms; id,
 * ordinal, times and revision are filled in, and study->next_trial moves on.
 * An id and a created_ms that are not 0 are kept: the trial comes from
 * elsewhere.
 * Without TRIAL_AGAIN a point that is taken already is left alone: *created is
 * false.
 * HT_LIMIT     the study has HT_MAX_TRIALS already
 * HT_CONFLICT  it had a trial of that id, or one of a higher id, before */
enum ht_status trial_create(struct core *core, struct study_row *study,
                            struct trial_row *trial, bool *created,
                            struct ht_error *err);

#endif
