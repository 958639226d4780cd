/* rungs.h - which trials continue at the rungs (algorithms/stop/asha.h) of
 * their study's early stopping rule, and their values there. Core thread; every
 * function belongs to the caller's savepoint. */
#ifndef HT_TUNER_STUDY_RUNGS_H
#define HT_TUNER_STUDY_RUNGS_H

#include "algorithms/stop/stop_study.h"
#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/study/end_rules.h"

/* Stores the trial's value at the rung of the verdict, and that the rung is
 * passed when the trial continues. Without a rung nothing happens. */
enum ht_status rungs_note(struct core *core, struct arena *arena,
                          struct trial_row *trial,
                          const struct stop_verdict *verdict,
                          struct ht_error *err);

/* The trial restarts: its values at rungs are deleted. */
enum ht_status rungs_forget(struct core *core, struct trial_row *trial,
                            struct ht_error *err);

/* Continues paused trials that are now among the best of their rung, as many as
 * the study has room for, and updates the counts. */
enum ht_status rungs_promote(struct settling *settling, struct ht_error *err);

#endif
