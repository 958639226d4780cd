#include "algorithms/warp.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "proto/arena.h"

/* Squares stay finite; what differs only beyond it is equally good or bad. */
static const double largest = 1e150;

/* With fewer the shape of a distribution is anyone's guess. */
enum { LEAST_TO_BEND = 4, GOLDEN_STEPS = 40 };

/* ---- half rank ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_sorted(size_t n, const double sorted[])
{
    return n % 2 == 1 ? sorted[n / 2]
                      : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

static size_t unique(size_t n, double sorted[])
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || sorted[i] != sorted[kept - 1])
            sorted[kept++] = sorted[i];
    return kept;
}

/* The root mean square of the distances from `middle`, 0 when all are 0. They
 * are divided by the largest first, so that tiny ones do not vanish. */
static double deviation(size_t n, const double y[], double middle)
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(y[i] - middle));
    if (most == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        sum += pow((y[i] - middle) / most, 2);
    return most * sqrt(sum / (double)n);
}

/* How many of the sorted values are smaller. */
static size_t rank(size_t n, const double sorted[], double y)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void warp_half_rank(size_t n, const double y[], double ranked[])
{
    double *sorted = ht_xcalloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = y[i];
    qsort(sorted, n, sizeof *sorted, compare);
    const double median = median_of_sorted(n, sorted);
    const size_t n_unique = unique(n, sorted);
    const size_t below = rank(n_unique, sorted, median);
    const double share = (double)below + (sorted[below] == median ? 0.5 : 0.0);
    double spread = deviation(n_unique - below, sorted + below, median);
    if (spread == 0)
        spread = deviation(n_unique, sorted, median);
    for (size_t i = 0; i < n; i++) {
        const double quantile =
            0.5 * ((double)rank(n_unique, sorted, y[i]) + 0.5) / share;
        ranked[i] = y[i] < median
                        ? median + spread * gsl_cdf_ugaussian_Pinv(quantile)
                        : y[i];
    }
    free(sorted);
}

/* ---- shape ---- */

void warp_standardise(size_t n, double y[])
{
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n; i++)
        mean += y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        variance += (y[i] - mean) * (y[i] - mean) / (double)n;
    const double spread = sqrt(variance);
    const bool flat = spread < 1e-12 * fmax(1, fabs(mean));
    for (size_t i = 0; i < n; i++)
        y[i] = flat ? 0 : (y[i] - mean) / spread;
}

double warp_power(double y, double lambda)
{
    if (y >= 0)
        return fabs(lambda) < 1e-12 ? log1p(y)
                                    : expm1(lambda * log1p(y)) / lambda;
    const double mirrored = 2 - lambda;
    return fabs(mirrored) < 1e-12 ? -log1p(-y)
                                  : -expm1(mirrored * log1p(-y)) / mirrored;
}

/* The log likelihood of a normal distribution after the transform. */
static double power_likelihood(size_t n, const double y[], double lambda)
{
    double mean = 0, variance = 0, stretch = 0;
    for (size_t i = 0; i < n; i++) {
        mean += warp_power(y[i], lambda) / (double)n;
        stretch += copysign(log1p(fabs(y[i])), y[i]);
    }
    for (size_t i = 0; i < n; i++)
        variance += pow(warp_power(y[i], lambda) - mean, 2) / (double)n;
    return -0.5 * (double)n * log(variance) + (lambda - 1) * stretch;
}

/* Golden section: the likelihood has one summit in practice. */
double warp_power_fit(size_t n, const double y[])
{
    static const double golden = 0.61803398874989484820;
    double low = -4, high = 6;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double at_left = power_likelihood(n, y, left);
    double at_right = power_likelihood(n, y, right);
    for (int i = 0; i < GOLDEN_STEPS; i++) {
        if (at_left > at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = power_likelihood(n, y, left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = power_likelihood(n, y, right);
        }
    }
    return (low + high) / 2;
}

/* Leaves the values as they are when the transform fails on them. */
static void bend(size_t n, double y[])
{
    const double lambda = warp_power_fit(n, y);
    double *bent = ht_xcalloc(n, sizeof *bent);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        bent[i] = warp_power(y[i], lambda);
        sum += bent[i] * bent[i];
    }
    if (isfinite(sum))
        memcpy(y, bent, n * sizeof *y);
    free(bent);
}

/* ---- all of it ---- */

/* Distances from the middle of the range, the largest being 1. */
static void centre(size_t n, double y[])
{
    double low = y[0], high = y[0];
    for (size_t i = 1; i < n; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    const double middle = low / 2 + high / 2, half = high / 2 - low / 2;
    for (size_t i = 0; i < n; i++)
        y[i] = half > 0 ? (y[i] - middle) / half : 0;
}

void warp(size_t n, const double y[], double warped[])
{
    if (n == 0)
        return;
    double *bounded = ht_xcalloc(n, sizeof *bounded);
    for (size_t i = 0; i < n; i++)
        bounded[i] = fmin(fmax(y[i], -largest), largest);
    warp_half_rank(n, bounded, warped);
    free(bounded);
    centre(n, warped);
    warp_standardise(n, warped);
    if (n >= LEAST_TO_BEND) {
        bend(n, warped);
        warp_standardise(n, warped);
    }
}
