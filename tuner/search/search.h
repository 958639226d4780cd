/* search.h - the worker that turns a study's history into new points.
 *
 * Each study's state (the algorithm's, and the points taken) is kept and only
 * brought up to date from the events since; when it was dropped it is built
 * again from the first event on, with the same result. */
#ifndef HT_TUNER_SEARCH_SEARCH_H
#define HT_TUNER_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/core/live.h"
#include "tuner/core/worker.h"

struct suggestions {
    int64_t study;
    const char *context; /* as asked */
    size_t n;
    struct suggestion *items; /* distinct, untried when asked (but those that
                                 repeat) */
    bool exhausted;           /* no such point is left besides these */
    bool barren; /* nor was there ever one: none satisfies the constraints */
    bool failed; /* nothing could be found out; ask again */
};

/* The role of the search's worker, whose answers are `struct suggestions`. A
 * question is about the n points from ordinal `first` on. */
extern const struct worker_role search_role;

#endif
