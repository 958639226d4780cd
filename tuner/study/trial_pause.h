/* trial_pause.h - trials that give their slot away for a while and go on from
 * their checkpoint. Core thread; every function belongs to the caller's
 * savepoint. */
#ifndef HT_TUNER_STUDY_TRIAL_PAUSE_H
#define HT_TUNER_STUDY_TRIAL_PAUSE_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/study/final_measurement.h"

struct core;

/* Tells a running trial to end; it is PAUSED once it has. One whose process
 * has ended by itself is left alone. */
enum ht_status trial_pause(struct core *core, struct arena *arena,
                           struct trial_row *trial, const char *reason,
                           struct ht_error *err);

/* The attempt that was told to pause has ended: the trial of `pair` waits,
 * unless it came to its end all the same. *decided is false where it has to be
 * decided as any other. */
enum ht_status trial_decide_pause(struct core *core, struct deciding *deciding,
                                  bool *decided, struct ht_error *err);

/* A paused trial waits for a slot; the rung is behind it. */
enum ht_status trial_promote(struct core *core, struct arena *arena,
                             struct trial_row *trial, struct ht_error *err);

/* Ends a trial that waits, paused or not, with what it has reported so far;
 * CANCELLED where that is no result. */
enum ht_status trial_end_waiting(struct core *core, struct arena *arena,
                                 struct trial_row *trial, const char *reason,
                                 struct ht_error *err);

/* An attempt that is about to go on from a checkpoint has reported what the
 * one before it did. */
enum ht_status trial_resume_scores(struct core *core, struct arena *arena,
                                   const struct attempt_row *attempt,
                                   struct ht_error *err);

#endif
