/* stop_worker.h - the worker that applies early stopping rules to running
 * trials.
 *
 * A report costs no more with a rule than without. A trial waits at most once
 * in the worker's list, and after each verdict it rests a few times as long as
 * that took: where reports come faster than verdicts, the newest reports count.
 */
#ifndef HT_TUNER_SEARCH_STOP_WORKER_H
#define HT_TUNER_SEARCH_STOP_WORKER_H

#include <stdint.h>

#include "algorithms/stop/stop_study.h"
#include "tuner/core/worker.h"

/* The answer about one trial. */
struct stop_finding {
    int64_t study, trial, attempt; /* of the curve that was looked at */
    struct stop_verdict verdict;   /* STOP_GO_ON without a rule's verdict */
    const char *record; /* see stop_record.h; "" unless it stops or pauses */
    const char *reason;
};

/* Its answers are `struct stop_finding`, also where there is no verdict. A
 * question is about one trial, `first`. */
extern const struct worker_role stop_worker_role;

#endif
