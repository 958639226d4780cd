/* trial.h - the life of a trial and its attempts, from the first start to the
 * final measurement.
 *
 * Core thread; every function belongs to the caller's savepoint. An attempt
 * that is not its trial's newest, or has ended, is HT_NOT_FOUND to all of them,
 * so a trial never has two winners. */
#ifndef HT_TUNER_STUDY_TRIAL_H
#define HT_TUNER_STUDY_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"
#include "tuner/core/request.h"
#include "tuner/db/rows.h"

/* A trial and its newest attempt, read together. */
struct trial_pair {
    struct trial_row trial;
    struct attempt_row attempt;
};

/* HT_NOT_FOUND  no such attempt, superseded, or ENDED
 * HT_DENIED     it runs at another runner */
enum ht_status trial_find(struct core *core, struct arena *arena,
                          const struct trial_name *name, const char *runner,
                          struct trial_pair *pair, struct ht_error *err);

/* How the attempt's process ended. */
struct trial_outcome {
    enum attempt_outcome outcome;
    int64_t exit_code; /* -1: none */
    int64_t signal;    /* 0: none */
    const char *reason;
    bool impossible; /* nothing ran, nor could it as it was ordered */
};

/* The process runs; a repetition changes only the facts, a JSON object about
 * the machine, or NULL. */
enum ht_status trial_started(struct core *core, struct trial_pair *pair,
                             const char *facts, struct ht_error *err);
/* The process has ended; records may still arrive from the runner. */
enum ht_status trial_ended(struct core *core, struct arena *arena,
                           struct trial_pair *pair,
                           const struct trial_outcome *outcome,
                           struct ht_error *err);
/* Everything has arrived: the attempt ends and the trial is decided. `evidence`
 * is what the runner saw of metrics; NULL: it sent none. `saved`: it wrote
 * checkpoints where only the runner sees them. */
enum ht_status trial_drained(struct core *core, struct arena *arena,
                             struct trial_pair *pair,
                             const struct node *evidence, bool saved,
                             struct ht_error *err);
/* The machine of the attempt is lost. If its end was known and it has an
 * objective, the trial is decided by what arrived; otherwise it starts again.
 */
enum ht_status trial_lost(struct core *core, struct arena *arena,
                          struct trial_pair *pair, const char *reason,
                          struct ht_error *err);

/* Drops the trial from the core's memory after the COMMIT. */
void trial_forget(struct core *core, const struct trial_row *trial);

/* Ends a trial on purpose: one that never ran is cancelled, a paused one ends
 * with its result so far, a running one is asked to stop. One that is stopping
 * for good or final is unchanged. */
enum ht_status trial_end(struct core *core, struct arena *arena,
                         struct trial_row *trial, const char *reason,
                         struct ht_error *err);

/* --- a new one --- */

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

/* Removes a trial with all that belongs to it, whatever its state; a runner
 * that runs it learns that its attempt is gone. The event has its point, for a
 * search is replayed with it (tuner/search/trial_event.h); that of one that
 * confirms another was never searched with. */
enum ht_status trial_delete(struct core *core, const struct job *job,
                            const struct trial_row *trial, const char *reason,
                            struct ht_error *err);

#endif
