/* search_worker.h - the worker that turns a study's history into new points.
 *
 * The search of each study is kept and only updated by the events since; when
 * it was dropped it is built again from the first event on, with the same
 * result. */
#ifndef HT_TUNER_SEARCH_SEARCH_WORKER_H
#define HT_TUNER_SEARCH_SEARCH_WORKER_H

#include "tuner/core/worker.h"

/* Its answers are `struct suggestions`. A question is about the n points from
 * ordinal `first` on; who asked for many gets those found in a slice of time
 * and asks again, so that the questions about other studies have their turn. */
extern const struct worker_role search_role;

#endif
