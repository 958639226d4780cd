/* explain.h - why a model chose a point, for people to read. */
#ifndef HT_ALGORITHMS_SEARCH_EXPLAIN_H
#define HT_ALGORITHMS_SEARCH_EXPLAIN_H

#include "algorithms/base/algorithm.h"
#include "algorithms/model/acquisition.h"
#include "algorithms/model/goal_model.h"
#include "algorithms/model/history.h"

/* Writes what n models (of goals 0, 1, ...) and the acquisition say of the
 * point at coordinates x, and the nearest result in lengths of the first. */
void explain(const struct history *history, size_t n,
             const struct goal_model models[],
             const struct acquisition *acquisition, const double x[],
             struct reason *reason);

#endif
