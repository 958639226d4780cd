/* suggestion_stock.h - points that a search found for the clients of a study,
 * who ask for them one by one, or to complete what a person adds to any study.
 *
 * A point is given only if its search knew every result that was there when
 * the client asked, and looked for what it asks for. So that clients seldom
 * wait, searches begin before they ask, unless for a context: at once when a
 * result came, and a while after a point was given, when its result seems to
 * take its time. A study that nobody asks is left alone after some such
 * searches. Core thread. */
#ifndef HT_TUNER_STUDY_SUGGESTION_STOCK_H
#define HT_TUNER_STUDY_SUGGESTION_STOCK_H

#include <stdint.h>

#include "tuner/search/study.h"
#include "tuner/study/end_rules.h"

/* What earlier searches know is out of date: a result came or went, or someone
 * added a point. Noted at once, for that nothing is lost if it is rolled back.
 */
void suggestion_stock_outdate(struct core *core, int64_t study);

/* A client asks now, for a context perhaps. Returns what it is owed. */
int64_t suggestion_stock_ask(struct core *core, int64_t study, bool of_context);

/* What a client may be given. */
struct suggestion_claim {
    int64_t study;
    int64_t owed;        /* see suggestion_stock_ask() */
    const char *context; /* or NULL */
};

/* The next point for the claim, borrowed until the next search; it counts as
 * given. NULL: there is none. */
const struct suggestion *
suggestion_stock_take(struct core *core, const struct suggestion_claim *claim);
/* Whether the search found that none is left for it. */
bool suggestion_stock_is_exhausted(struct core *core,
                                   const struct suggestion_claim *claim);
/* Whether there never was one, as none satisfies the constraints. */
bool suggestion_stock_is_barren(struct core *core,
                                const struct suggestion_claim *claim);

/* Keeps what a search found, which began when study_ask() was called last. */
void suggestion_stock_put(struct core *core, const struct suggestions *found);

/* Whether a search should begin that no client has asked for yet. */
bool suggestion_stock_is_due(const struct settling *settling);
/* When that will be, by time alone (monotonic ms); MEMORY_NEVER: not so. */
int64_t suggestion_stock_due_ms(const struct settling *settling);

#endif
