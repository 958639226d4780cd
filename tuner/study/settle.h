/* settle.h - looks at a study after a change: asks for its next trials, or ends
 * it as end_rules.h decides.
 *
 * Core thread. Settling is idempotent: it does what the rows require, so it may
 * run at any time and any number of times. */
#ifndef HT_TUNER_STUDY_SETTLE_H
#define HT_TUNER_STUDY_SETTLE_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/options.h"
#include "tuner/core/worker.h"
#include "tuner/db/rows.h"

/* Asks for missing trials, ends the study when a rule ends it, removes the next
 * rows of a deleted one, and updates its reason.
 * HT_NOT_FOUND  it does not exist any more; nothing to do */
enum ht_status study_settle(struct core *core, int64_t study,
                            struct ht_error *err);

/* Takes the answers of the search: waiting trials, as far as they are still
 * wanted, or the stock for clients. */
extern const struct worker_receiver study_suggestions_receiver;
/* Asks the search for n more trials after the COMMIT, of that context (NULL:
 * none), unless a question is pending or has just failed. The context must live
 * until then. */
void study_ask(struct core *core, const struct study_row *row, int64_t n,
               const char *context);
/* The same about one suggestion, of that number. */
void study_ask_about(struct core *core, const struct study_row *row,
                     int64_t ordinal, const char *context);

/* At start: the first tick settles every study that has not ended. */
enum ht_status study_recover(struct core *core, struct ht_error *err);
core_tick_part study_tick;
/* Monotonic ms of the next tick that has something to do, or LIVE_NEVER; a
 * moment that has passed means at once. */
int64_t study_deadline(struct core *core);

#endif
