/* warp.h - objectives as values that a Gaussian process can model.
 *
 * A monotone transform, so what is better stays better: the worse half is
 * drawn to normal quantiles of its ranks, so that no bad value can dominate;
 * then all are bent towards a normal shape; mean 0, variance 1. */
#ifndef HT_ALGORITHMS_WARP_H
#define HT_ALGORITHMS_WARP_H

#include <stddef.h>

/* Warps n finite values, larger being better. All 0 when all are equal. */
void warp(size_t n, const double y[], double warped[]);

/* The steps, for tests. Values below the median are replaced by the median
 * plus (negative) normal quantiles times the deviation of the better half
 * (the HalfRankComponent of Google's Vizier, output_warpers.py). */
void warp_half_rank(size_t n, const double y[], double ranked[]);
/* To mean 0 and variance 1, in place. */
void warp_standardise(size_t n, double y[]);
/* The power transform of Yeo and Johnson ("A new family of power
 * transformations to improve normality or symmetry", Biometrika 2000). */
double warp_power(double y, double lambda);
/* Its most likely exponent in [-4, 6]. */
double warp_power_fit(size_t n, const double y[]);

#endif
