/* thinning.h - which records of a replica become measurements once it reports
 * more than its budgets allow, and which of the others its result may need.
 *
 * Beyond a budget every second record is stored, beyond twice as much every
 * fourth, and so on: which ones, a record's own number and writer decide. Of
 * the others the newest ones and those of the best step are held, so that a
 * result never depends on what was dropped. */
#ifndef HT_TUNER_STUDY_THINNING_H
#define HT_TUNER_STUDY_THINNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "proto/job/report.h"
#include "tuner/base/budget.h"
#include "tuner/db/report_use.h"

/* One of how many records is stored: 1 within the budgets, else a power of two
 * and in *budget the one that demands it. `age_ms`: since the attempt began. */
int64_t thinning_keep_every(const struct report_use *use, int64_t age_ms,
                            enum budget *budget);
bool thinning_keeps(const struct report *report, int64_t keep_every);
/* What a record counts for the budget replica-bytes. */
int64_t thinning_bytes(const struct report *report);

/* At most one record of each set of metric names; those have steps. */
struct held_list {
    size_t n;
    struct report items[HT_MAX_METRICS];
};
/* The dropped records that a result may need, with texts in the arena of the
 * one who adds them. Zeroed: none. */
struct held {
    struct held_list newest;
    struct held_list best; /* of the step with the best objective */
};

/* Reads what held_text() wrote. */
void held_read(struct arena *arena, const char *text, struct held *held);
/* In the arena; "" when nothing is held. */
const char *held_text(struct arena *arena, const struct held *held);

/* The record is dropped. `beside_best`: it has other metrics than the
 * objective, of the step where that is best. */
void held_add(struct held *held, const struct report *report, bool beside_best);
/* The record is stored: an older one of the same metrics is not needed. */
void held_replace(struct held *held, const struct report *report);
/* The objective is best at this step now, by a record that is stored or by
 * `dropped`. */
void held_begin_best(struct held *held, int64_t step,
                     const struct report *dropped);

#endif
