/* median_stop.h - the median rule: should a running trial go on?
 *
 * A trial stops when its best value is strictly worse than the median, over
 * completed trials, of their running averages up to the trial's last
 * measurement. */
#ifndef HT_ALGORITHMS_MEDIAN_STOP_H
#define HT_ALGORITHMS_MEDIAN_STOP_H

#include <stdbool.h>
#include <stddef.h>

/* One measured value; larger is better (minimised ones negated). Values that
 * are not finite are left out. */
struct curve_point {
    double at; /* step, or seconds */
    double value;
};

struct curve {
    size_t n;
    const struct curve_point *points; /* in order of `at` */
};

/* Mean of the values up to and with `at`; false when there is none. */
bool curve_mean_until(const struct curve *curve, double at, double *mean);

/* Median of n values, which it sorts; of an even count the mean of the middle
 * two. n is at least 1. */
double median_of(size_t n, double values[]);

/* Whether the rule stops `current`, given the curves of n completed trials.
 * `scratch` has room for n values. Without a value on either side it does
 * not. */
bool median_stop(const struct curve *current, size_t n,
                 const struct curve completed[], double scratch[]);

#endif
