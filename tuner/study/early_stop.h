/* early_stop.h - the early stopping rule of running trials: when it is asked
 * for a verdict, and what the verdict does. Core thread. */
#ifndef HT_TUNER_STUDY_EARLY_STOP_H
#define HT_TUNER_STUDY_EARLY_STOP_H

#include <stdbool.h>

#include "proto/job/job.h"
#include "tuner/core/worker.h"
#include "tuner/db/rows.h"

/* After the COMMIT the worker of stop_worker.h looks at the trial; nothing
 * happens without a rule, or for a trial that is not ACTIVE. Returns whether a
 * verdict will come. live_trial->verdict_due is set until then; with `awaited`,
 * held requests are woken by the verdict. */
bool early_stop_ask(struct core *core, const struct job *job,
                    const struct trial_row *trial, bool awaited);

/* Takes the verdicts of stop_worker.h: a trial that still runs is stopped or
 * paused, once. */
extern const struct worker_receiver early_stop_receiver;

#endif
