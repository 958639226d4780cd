/* search_worker.h - the worker that turns a study's history into new points.
 *
 * Each study's state (the algorithm's, and the points taken) is kept and only
 * brought up to date from the events since; when it was dropped it is built
 * again from the first event on, with the same result. */
#ifndef HT_TUNER_SEARCH_SEARCH_WORKER_H
#define HT_TUNER_SEARCH_SEARCH_WORKER_H

#include "tuner/core/worker.h"

/* The role of the search's worker, whose answers are `struct suggestions`. A
 * question is about the n points from ordinal `first` on. */
extern const struct worker_role search_role;

#endif
