/* suggestion_stock.h - points found ahead for clients that ask for them one by
 * one, and points that complete what a person adds with some values missing.
 *
 * A point is given only if its search knew every result that existed when the
 * client asked, and looked for that client's context. So that clients seldom
 * wait, searches without a context begin early: at once when a result arrives,
 * and a while after a point was given, when its result seems to take long.
 * After some such searches without a client asking, no more begin. Core thread.
 */
#ifndef HT_TUNER_STUDY_SUGGESTION_STOCK_H
#define HT_TUNER_STUDY_SUGGESTION_STOCK_H

#include <stdint.h>

#include "tuner/search/study.h"
#include "tuner/study/end_rules.h"

/* Earlier searches are out of date: a result was added or removed, or a person
 * added a point. Effective at once; a rollback costs only a search. */
void suggestion_stock_outdate(struct core *core, int64_t study);

/* The same, and no one gets what was found so far: the study has changed. */
void suggestion_stock_drop(struct core *core, int64_t study);

/* A client asks now, perhaps for a context. Returns the version of the results
 * that its point must be based on. */
int64_t suggestion_stock_ask(struct core *core, int64_t study, bool of_context);

/* A client's claim to a point. */
struct suggestion_claim {
    int64_t study;
    int64_t owed;        /* from suggestion_stock_ask() */
    const char *context; /* or NULL */
};

/* The next point for the claim, borrowed until the next search, and removed
 * from the stock. NULL: there is none. */
const struct suggestion *
suggestion_stock_take(struct core *core, const struct suggestion_claim *claim);
/* Whether the search found no further point for it. */
bool suggestion_stock_is_exhausted(struct core *core,
                                   const struct suggestion_claim *claim);
/* Whether no point at all satisfies the constraints. */
bool suggestion_stock_is_barren(struct core *core,
                                const struct suggestion_claim *claim);

/* Stores the answer to the last study_ask(). */
void suggestion_stock_put(struct core *core, const struct suggestions *found);

/* Whether a search should begin although no client waits. */
bool suggestion_stock_is_due(const struct settling *settling);
/* When that will be, by time alone (monotonic ms); LIVE_NEVER: not so. */
int64_t suggestion_stock_due_ms(const struct settling *settling);

#endif
