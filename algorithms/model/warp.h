/* warp.h - objectives as values that a Gaussian process can model.
 *
 * A monotone transform, so what is better stays better: the worse half is
 * drawn to normal quantiles of its ranks, so that no bad value can dominate
 * (the HalfRankComponent of Google's Vizier, output_warpers.py); then all are
 * bent towards a normal shape; mean 0, variance 1. Objectives that are weighed
 * against each other, and metrics with a bound, keep their distances instead,
 * but for values far below. */
#ifndef HT_ALGORITHMS_MODEL_WARP_H
#define HT_ALGORITHMS_MODEL_WARP_H

#include <stdbool.h>
#include <stddef.h>

/* One transform, found from a set of values. */
struct warping {
    double median;
    size_t n_low;            /* different values below the median */
    double *low, *low_ranks; /* owned: they, increasing, and their places */
    double least, most;      /* of the values, both 0 where signs differ */
    double middle, half;     /* of the range of what was ranked */
    double mean, spread;     /* of that, in units of `half` */
    bool bends;
    double lambda, bent_mean, bent_spread; /* where it bends */
};

/* Finds the transform of n finite values, larger being better. y[] is not
 * kept; n may be 0, and then every place is 0. */
void warp_init(struct warping *warping, size_t n, const double y[]);
/* The same for an objective among many, where a trade is worth what it is in
 * its own units, and for a metric with a bound: distances stay, and are drawn
 * together only more than two deviations below the median. */
void warp_init_traded(struct warping *warping, size_t n, const double y[]);
/* Frees `low` and `low_ranks`; all zeroes is a valid warping, too. */
void warp_fini(struct warping *warping);
/* The place of any value: 0 everywhere when all that it was found from were
 * equal. Below the median places lie on lines between the known ones. */
double warp_apply(const struct warping *warping, double y);
/* The value at a place; the nearest that has one where the power transform
 * reaches no further. Where all known values are on one side of 0, so is this:
 * beyond them it comes ever nearer to 0. */
double warp_undo(const struct warping *warping, double place);

/* The steps, for tests. To mean 0 and variance 1, in place; tells what they
 * were. A spread of 0: all are equal. */
void warp_standardise(size_t n, double y[], double *mean, double *spread);
/* The power transform of Yeo and Johnson ("A new family of power
 * transformations to improve normality or symmetry", Biometrika 2000). */
double warp_power(double y, double lambda);
/* Its most likely exponent in [-4, 6]. */
double warp_power_fit(size_t n, const double y[]);

#endif
