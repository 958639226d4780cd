#include "algorithms/model/warp.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "algorithms/base/order.h"
#include "proto/base/arena.h"

/* Squares stay finite; what differs only beyond it is equally good or bad. */
static const double largest = 1e150;

/* With fewer the shape of a distribution is anyone's guess. */
enum { LEAST_TO_BEND = 4, GOLDEN_STEPS = 40 };

/* ---- half rank ---- */

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

/* Where a value below the median goes, in deviations from it. */
typedef double place_function(size_t i, double share, double deviations);

static double ranked_place(size_t i, double share, double deviations)
{
    (void)deviations;
    return gsl_cdf_ugaussian_Pinv(0.5 * ((double)i + 0.5) / share);
}

static double traded_place(size_t i, double share, double deviations)
{
    (void)i;
    (void)share;
    return deviations >= -2 ? deviations : -2 - log1p(-2 - deviations);
}

/* The ranking part: median, values below it and their places. */
static void rank_low(struct warping *warping, place_function *place, size_t n,
                     const double y[])
{
    double *sorted = ht_xcalloc(n + 1, sizeof *sorted);
    memcpy(sorted, y, n * sizeof *sorted);
    order_numbers(n, sorted);
    const double median = median_of_sorted(n, sorted);
    const size_t n_unique = unique(n, sorted);
    const size_t below = rank(n_unique, sorted, median);
    const double share = (double)below + (sorted[below] == median ? 0.5 : 0.0);
    double spread = deviation(n_unique - below, sorted + below, median);
    if (spread == 0)
        spread = deviation(n_unique, sorted, median);
    const bool one_side = sorted[0] > 0 || sorted[n_unique - 1] < 0;
    warping->least = one_side ? sorted[0] : 0;
    warping->most = one_side ? sorted[n_unique - 1] : 0;
    warping->median = median;
    warping->n_low = below;
    warping->low = sorted;
    warping->low_ranks = ht_xcalloc(below + 1, sizeof *warping->low_ranks);
    for (size_t i = 0; i < below; i++)
        warping->low_ranks[i] =
            median + spread * place(i, share, (sorted[i] - median) / spread);
}

/* From one scale to another: along the lines through n > 0 known pairs and
 * (end, end), both increasing; below the first one as far away as it is. */
static double along(size_t n, const double from[], const double to[],
                    double end, double y)
{
    const size_t above = rank(n, from, y);
    if (above < n && from[above] == y)
        return to[above];
    if (above == 0)
        return to[0] + (y - from[0]);
    const double left = from[above - 1], right = above < n ? from[above] : end;
    const double low = to[above - 1], high = above < n ? to[above] : end;
    return right > left ? low + (high - low) * ((y - left) / (right - left))
                        : low;
}

static double to_rank(const struct warping *warping, double y)
{
    return y >= warping->median || warping->n_low == 0
               ? y
               : along(warping->n_low, warping->low, warping->low_ranks,
                       warping->median, y);
}

static double from_rank(const struct warping *warping, double ranked)
{
    return ranked >= warping->median || warping->n_low == 0
               ? ranked
               : along(warping->n_low, warping->low_ranks, warping->low,
                       warping->median, ranked);
}

/* ---- shape ---- */

void warp_standardise(size_t n, double y[], double *mean, double *spread)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (y[i] - sum) * (y[i] - sum) / (double)n;
    *mean = sum;
    *spread = sqrt(squares) < 1e-12 * fmax(1, fabs(sum)) ? 0 : sqrt(squares);
    for (size_t i = 0; i < n; i++)
        y[i] = *spread == 0 ? 0 : (y[i] - sum) / *spread;
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

static double power_undo(double bent, double lambda)
{
    if (bent >= 0)
        return fabs(lambda) < 1e-12 ? expm1(bent)
                                    : expm1(log1p(lambda * bent) / lambda);
    const double mirrored = 2 - lambda;
    return fabs(mirrored) < 1e-12 ? -expm1(-bent)
                                  : -expm1(log1p(-mirrored * bent) / mirrored);
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
static void bend(struct warping *warping, size_t n, double y[])
{
    const double lambda = warp_power_fit(n, y);
    double *bent = ht_xcalloc(n, sizeof *bent);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        bent[i] = warp_power(y[i], lambda);
        sum += bent[i] * bent[i];
    }
    warping->bends = isfinite(sum) != 0;
    warping->lambda = lambda;
    if (warping->bends)
        warp_standardise(n, bent, &warping->bent_mean, &warping->bent_spread);
    free(bent);
}

/* ---- all of it ---- */

static double bounded(double y)
{
    return fmin(fmax(y, -largest), largest);
}

/* Distances from the middle of the range, the largest being 1. */
static void centre(struct warping *warping, size_t n, double y[])
{
    double low = y[0], high = y[0];
    for (size_t i = 1; i < n; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    warping->middle = low / 2 + high / 2;
    warping->half = high / 2 - low / 2;
    for (size_t i = 0; i < n; i++)
        y[i] = warping->half > 0 ? (y[i] - warping->middle) / warping->half : 0;
}

static void init(struct warping *warping, bool traded, size_t n,
                 const double y[])
{
    *warping = (struct warping){0};
    if (n == 0)
        return;
    double *values = ht_xcalloc(n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = bounded(y[i]);
    rank_low(warping, traded ? traded_place : ranked_place, n, values);
    for (size_t i = 0; i < n; i++)
        values[i] = to_rank(warping, values[i]);
    centre(warping, n, values);
    warp_standardise(n, values, &warping->mean, &warping->spread);
    if (!traded && n >= LEAST_TO_BEND && warping->spread > 0)
        bend(warping, n, values);
    free(values);
}

void warp_init(struct warping *warping, size_t n, const double y[])
{
    init(warping, false, n, y);
}

void warp_init_traded(struct warping *warping, size_t n, const double y[])
{
    init(warping, true, n, y);
}

void warp_fini(struct warping *warping)
{
    free(warping->low);
    free(warping->low_ranks);
}

double warp_apply(const struct warping *warping, double y)
{
    if (warping->spread == 0)
        return 0;
    const double ranked = to_rank(warping, bounded(y));
    const double place =
        ((ranked - warping->middle) / warping->half - warping->mean) /
        warping->spread;
    if (!warping->bends)
        return place;
    const double bent = warp_power(place, warping->lambda) - warping->bent_mean;
    return warping->bent_spread > 0 ? bent / warping->bent_spread : 0;
}

/* The power transform is bounded above where lambda < 0 and below where it is
 * above 2: a belief may reach further than any value does. */
static double reachable(double bent, double lambda)
{
    static const double almost = 1 - 1e-9;
    if (bent > 0 && lambda < 0)
        return fmin(bent, almost / -lambda);
    if (bent < 0 && lambda > 2)
        return fmax(bent, -almost / (lambda - 2));
    return bent;
}

/* A loss or a duration is above 0, and a belief in its units should be so,
 * too. Next to the known values nothing changes: the slope stays. */
static double on_their_side(const struct warping *warping, double y)
{
    if (warping->least > 0 && y < warping->least)
        return warping->least * exp(y / warping->least - 1);
    if (warping->most < 0 && y > warping->most)
        return warping->most * exp(y / warping->most - 1);
    return y;
}

double warp_undo(const struct warping *warping, double place)
{
    if (warping->spread == 0)
        return warping->median;
    if (warping->bends)
        place = power_undo(
            reachable(place * warping->bent_spread + warping->bent_mean,
                      warping->lambda),
            warping->lambda);
    const double ranked =
        (place * warping->spread + warping->mean) * warping->half +
        warping->middle;
    return on_their_side(warping, from_rank(warping, ranked));
}
