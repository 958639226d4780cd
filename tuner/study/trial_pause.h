/* trial_pause.h - trials that give up their slot for a while and continue from
 * their checkpoint. Core thread; every function belongs to the caller's
 * savepoint. */
#ifndef HT_TUNER_STUDY_TRIAL_PAUSE_H
#define HT_TUNER_STUDY_TRIAL_PAUSE_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/study/final_measurement.h"

struct core;

/* Each function moves the trial and changes the caller's row with it. */

/* Asks a running trial to end; it is PAUSED when it has. One whose process has
 * ended by itself is unchanged. */
enum ht_status trial_pause(struct core *core, struct arena *arena,
                           struct trial_row *trial, const char *reason,
                           struct ht_error *err);

/* The attempt that was asked to pause has ended: the trial becomes PAUSED,
 * unless its program reached its end. *decided is false where the trial has to
 * be decided like any other. */
enum ht_status trial_pause_decide(struct deciding *deciding, bool *decided,
                                  struct ht_error *err);

/* A paused trial waits for a slot; its rung is passed. */
enum ht_status trial_pause_promote(struct core *core, struct arena *arena,
                                   struct trial_row *trial,
                                   struct ht_error *err);

/* Ends a trial that waits, paused or not: the row is then STOPPED with the
 * result of what it has reported so far, or CANCELLED where that is none. */
enum ht_status trial_pause_end(struct core *core, struct arena *arena,
                               struct trial_row *trial, const char *reason,
                               struct ht_error *err);

/* Copies the reported scores of the attempt before it, number `earlier`, to an
 * attempt that continues from a checkpoint. */
enum ht_status trial_pause_copy_scores(struct core *core, struct arena *arena,
                                       const struct attempt_row *attempt,
                                       int64_t earlier, struct ht_error *err);

#endif
