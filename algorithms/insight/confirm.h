/* confirm.h - which of several settings is best, judged by repeated runs.
 *
 * Each setting's true mean has a belief, Student's t around the mean of its
 * runs; nothing is assumed about their variances being equal. The chance to be
 * best is integrated numerically, so equal runs give equal figures bit for
 * bit. Pure functions, larger is better. */
#ifndef HT_ALGORITHMS_INSIGHT_CONFIRM_H
#define HT_ALGORITHMS_INSIGHT_CONFIRM_H

#include <stddef.h>

/* A chance from which on a setting counts as better than all others. */
#define CONFIRM_SURE 0.95

/* The runs of one setting. */
struct confirm_runs {
    size_t n;
    const double *values; /* finite */
};

/* What they say of it. NaN where there are too few. */
struct confirm_standing {
    double mean;      /* from one run on */
    double sd;        /* from two on: of a single run */
    double low, high; /* from two on: 95 % interval of the true mean */
    double chance;    /* from two on: to have the highest true mean among those
                         that have one, the sum of theirs is 1 */
};

/* Fills one standing for each of n settings. */
void confirm_judge(size_t n, const struct confirm_runs runs[],
                   struct confirm_standing standings[]);

/* Writes the numbers of the settings to `order`, the one to take first: by
 * chance, those that have none yet behind, then by mean, without any run last;
 * equal ones stay as they are. */
void confirm_rank(size_t n, const struct confirm_standing standings[],
                  size_t order[]);

#endif
