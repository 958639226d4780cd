/* settle.h - what a study does by itself: it wants trials, and it ends.
 *
 * Core thread. Settling is idempotent: it looks at the rows and does whatever
 * they call for, so it may run at any time and as often as one likes. */
#ifndef HT_TUNER_STUDY_SETTLE_H
#define HT_TUNER_STUDY_SETTLE_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/core.h"
#include "tuner/core/worker.h"
#include "tuner/db/rows.h"

/* Asks for the trials that are missing, ends the study when a rule says so,
 * removes the next slice of a deleted one, and keeps its reason true.
 * HT_NOT_FOUND  it is gone; nothing to do */
enum ht_status study_settle(struct core *core, int64_t study,
                            struct ht_error *err);

/* Takes what the search found: it becomes waiting trials, as far as they are
 * still wanted, or the stock for clients. */
extern const struct worker_receiver study_suggestions_receiver;
/* Asks the search for n more trials after the COMMIT, of that context (NULL: of
 * none), unless a question is out or has just failed. The context lives as long
 * as the core's group. */
void study_ask(struct core *core, const struct study_row *row, int64_t n,
               const char *context);

/* At start: every study that has not ended is settled by the first tick. */
enum ht_status study_recover(struct core *core, struct ht_error *err);
core_tick_part study_tick;
int64_t study_deadline(struct core *core);

#endif
