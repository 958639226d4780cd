/* early_stop.h - running trials and their study's early stopping rule: when
 * they are judged, and what becomes of a verdict. Core thread. */
#ifndef HT_TUNER_STUDY_EARLY_STOP_H
#define HT_TUNER_STUDY_EARLY_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms/stop/early_stop.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/core/core.h"
#include "tuner/db/rows.h"

/* After the COMMIT, the judge looks at the trial; nothing happens without a
 * rule, or to a trial that is not ACTIVE. Returns whether it will be judged;
 * live_trial->judging stands until it was, and held requests are woken then
 * if one is `awaited`. */
bool early_stop_ask(struct core *core, const struct job *job,
                    const struct trial_row *trial, bool awaited);

/* What the judge found out about one trial. */
struct stop_finding {
    int64_t study, trial, attempt; /* that was judged */
    struct stop_verdict verdict;   /* to go on when there was none */
    const char *record; /* see stop_record.h; "" unless it stops or pauses */
    const char *reason;
};

/* Applies it: a trial that still runs is told to stop or to pause, once. */
enum ht_status early_stop_accept(struct core *core,
                                 const struct stop_finding *finding,
                                 struct ht_error *err);
/* It could not be applied: nobody waits for it any more. */
void early_stop_give_up(struct core *core, const struct stop_finding *finding);

#endif
