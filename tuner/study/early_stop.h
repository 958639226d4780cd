/* early_stop.h - running trials and their study's early stopping rule: when
 * they are judged, and what becomes of a verdict. Core thread. */
#ifndef HT_TUNER_STUDY_EARLY_STOP_H
#define HT_TUNER_STUDY_EARLY_STOP_H

#include <stdbool.h>

#include "proto/job/job.h"
#include "tuner/core/worker.h"
#include "tuner/db/rows.h"

/* After the COMMIT, the judge looks at the trial; nothing happens without a
 * rule, or to a trial that is not ACTIVE. Returns whether it will be judged;
 * live_trial->judging stands until it was, and held requests are woken then
 * if one is `awaited`. */
bool early_stop_ask(struct core *core, const struct job *job,
                    const struct trial_row *trial, bool awaited);

/* Takes the verdicts of stop_worker.h: a trial that still runs stops or pauses,
 * once. */
extern const struct worker_receiver early_stop_receiver;

#endif
