#include "algorithms/median_stop.h"

#include <math.h>
#include <stdlib.h>

/* A mean of equal or decimal values is off by a few units in the last place;
 * such a difference is no worse result. */
static const double rounding = 1e-12;

bool curve_mean_until(const struct curve *curve, double at, double *mean)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < curve->n && curve->points[i].at <= at; i++) {
        if (!isfinite(curve->points[i].value))
            continue;
        sum += curve->points[i].value;
        n++;
    }
    if (n == 0)
        return false;
    *mean = sum / (double)n;
    return true;
}

static int compare(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

double median_of(size_t n, double values[])
{
    qsort(values, n, sizeof *values, compare);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static bool best_of(const struct curve *curve, double *best)
{
    bool found = false;
    for (size_t i = 0; i < curve->n; i++) {
        const double value = curve->points[i].value;
        if (!isfinite(value) || (found && value <= *best))
            continue;
        *best = value;
        found = true;
    }
    return found;
}

bool median_stop(const struct curve *current, size_t n,
                 const struct curve completed[], double scratch[])
{
    double best = 0;
    size_t means = 0;
    if (!best_of(current, &best))
        return false;
    const double last = current->points[current->n - 1].at;
    for (size_t i = 0; i < n; i++)
        means += curve_mean_until(&completed[i], last, &scratch[means]);
    if (means == 0)
        return false;
    const double median = median_of(means, scratch);
    return best < median - rounding * fabs(median);
}
