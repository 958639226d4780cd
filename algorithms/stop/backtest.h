/* backtest.h - whether the early stopping rule of a study would stop trials
 * that turn out to be among its best.
 *
 * What a stopped trial would have reached is not known. What finished trials
 * reached is: each of the best is judged at places of its curve as if it was
 * still open and all others were as they are now. Pure functions. */
#ifndef HT_ALGORITHMS_STOP_BACKTEST_H
#define HT_ALGORITHMS_STOP_BACKTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/stop/stop_study.h"

enum { BACKTEST_LEAST = 20 }; /* finished trials with a curve */

struct backtest {
    size_t best;    /* so many were judged: the best tenth, at least 5 */
    size_t stopped; /* and so many of them would be stopped, */
    double latest;  /* the last of them at this place of its curve */
};

/* Of the one objective of a study whose rule looks at one curve at a time
 * (median, decay curve, convex). False: it is another study, or too few trials
 * have finished. */
bool backtest_run(const struct stop_study *study, struct backtest *found);

#endif
