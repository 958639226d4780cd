/* learning_curve.h - the questions of stopping rules about one metric of a
 * trial's learning curve.
 *
 * Places where the goal was not reported, or not as a finite number, are left
 * out everywhere. Functions that have no answer return false and write nothing.
 */
#ifndef HT_ALGORITHMS_STOP_LEARNING_CURVE_H
#define HT_ALGORITHMS_STOP_LEARNING_CURVE_H

#include <stdbool.h>
#include <stddef.h>

struct learning_curve {
    const struct stop_curve *of; /* borrowed */
    size_t goal;
};

/* Values reported up to and with `at`. */
size_t learning_curve_count(const struct learning_curve *curve, double at);
/* The largest of them, and their mean; false when there is none. */
bool learning_curve_best(const struct learning_curve *curve, double at,
                         double *best);
bool learning_curve_mean(const struct learning_curve *curve, double at,
                         double *mean);
/* The value at any place: on the line between its neighbours; before the first
 * and behind the last it is theirs. */
bool learning_curve_value(const struct learning_curve *curve, double at,
                          double *value);
/* The newest place with a value. */
bool learning_curve_end(const struct learning_curve *curve, double *at);

/* Median of n >= 1 values, which it sorts; of an even count the mean of the
 * middle two. */
double learning_curve_median(size_t n, double values[]);

#endif
