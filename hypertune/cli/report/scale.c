#include "hypertune/cli/report/scale.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum {
    LEAST_ROBUST = 8, /* results, to know an outlier */
    WIDE = 100,       /* times that the middle eight tenths of results span */
    DEEP = 1000       /* times that the best one is from the middle one */
};

static const double fence = 3; /* Tukey's far out: of the middle half's width */

struct scale scale_of(double low, double high, bool log)
{
    log = log && low > 0 && high > 0;
    if (!(high > low)) {
        const double room = log ? 0.5 : fabs(low) > 0 ? fabs(low) * 0.1 : 1;
        low = log ? low * room : low - room;
        high = log ? high / room : high + room;
    }
    return (struct scale){.low = low, .high = high, .log = log};
}

struct scale scale_of_labels(size_t n, const char *const labels[])
{
    return (struct scale){
        .low = -0.5, .high = (double)n - 0.5, .labels = labels, .n_labels = n};
}

/* ---- results ---- */

static int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double quantile(size_t n, const double sorted[], double share)
{
    return sorted[(size_t)(share * (double)(n - 1) + 0.5)];
}

static bool wants_log(size_t n, const double sorted[], bool maximize)
{
    const double middle = quantile(n, sorted, 0.5);
    const double ratio = maximize ? sorted[n - 1] / middle : middle / sorted[0];
    return sorted[0] > 0 &&
           (quantile(n, sorted, 0.9) / quantile(n, sorted, 0.1) >= WIDE ||
            ratio >= DEEP);
}

static double linear(const struct scale *scale, double value)
{
    return scale->log ? log10(value) : value;
}

/* The ends of what lies within the fences, and of the best. */
static struct scale fenced(size_t n, const double sorted[], bool maximize,
                           bool log)
{
    const struct scale how = {.log = log};
    const double q1 = linear(&how, quantile(n, sorted, 0.25));
    const double q3 = linear(&how, quantile(n, sorted, 0.75));
    const double far = fence * (q3 - q1);
    size_t first = 0, last = n - 1;
    if (n >= LEAST_ROBUST && far > 0) {
        while (maximize && linear(&how, sorted[first]) < q1 - far)
            first++;
        while (!maximize && linear(&how, sorted[last]) > q3 + far)
            last--;
    }
    return scale_of(sorted[first], sorted[last], log);
}

/* Some room at both ends, so that no point is cut. */
static struct scale widened(struct scale scale)
{
    const double low = linear(&scale, scale.low);
    const double high = linear(&scale, scale.high);
    const double room = (high - low) * 0.04;
    scale.low = scale.log ? pow(10, low - room) : low - room;
    scale.high = scale.log ? pow(10, high + room) : high + room;
    return scale;
}

struct scale scale_of_results(size_t n, const double values[], bool maximize)
{
    double *sorted = ht_xcalloc(n, sizeof *sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    const bool log = wants_log(n, sorted, maximize);
    const struct scale scale = widened(fenced(n, sorted, maximize, log));
    free(sorted);
    return scale;
}

double scale_place(const struct scale *scale, double value)
{
    if (scale->log && !(value > 0))
        return -1;
    const double low = linear(scale, scale->low);
    const double high = linear(scale, scale->high);
    return (linear(scale, value) - low) / (high - low);
}

bool scale_holds(const struct scale *scale, double value)
{
    return value >= scale->low && value <= scale->high;
}

/* ---- ticks ---- */

static const double few = 1e-9; /* of a step: what rounding may add */

static size_t label_ticks(const struct scale *scale,
                          struct scale_tick ticks[SCALE_TICKS])
{
    const size_t stride = (scale->n_labels + SCALE_TICKS - 1) / SCALE_TICKS;
    size_t n = 0;
    for (size_t i = 0; i < scale->n_labels; i += stride)
        ticks[n++] =
            (struct scale_tick){.value = (double)i, .label = scale->labels[i]};
    return n;
}

/* Multiples of 1, 2 or 5 times a power of ten, about four to six of them. */
static size_t linear_ticks(const struct scale *scale,
                           struct scale_tick ticks[SCALE_TICKS])
{
    const double rough = (scale->high - scale->low) / 5;
    const double power = pow(10, floor(log10(rough)));
    const double times = rough / power;
    const double step = power * (times < 1.5   ? 1
                                 : times < 3.5 ? 2
                                 : times < 7.5 ? 5
                                               : 10);
    const int64_t first = (int64_t)ceil(scale->low / step - few);
    const int64_t last = (int64_t)floor(scale->high / step + few);
    size_t n = 0;
    for (int64_t i = first; i <= last && n < SCALE_TICKS; i++)
        ticks[n++] = (struct scale_tick){.value = (double)i * step};
    return n;
}

/* Powers of ten, every so many that they have room. */
static size_t decade_ticks(const struct scale *scale,
                           struct scale_tick ticks[SCALE_TICKS])
{
    enum { MOST = 6 };
    const int first = (int)ceil(log10(scale->low) - few);
    const int last = (int)floor(log10(scale->high) + few);
    const int stride = (last - first) / MOST + 1;
    size_t n = 0;
    for (int i = first; i <= last && n < SCALE_TICKS; i += stride)
        ticks[n++] = (struct scale_tick){.value = pow(10, i)};
    return n;
}

/* 1, 2 and 5 times each power of ten within. */
static size_t fine_ticks(const struct scale *scale,
                         struct scale_tick ticks[SCALE_TICKS])
{
    static const double times[] = {1, 2, 5};
    size_t n = 0;
    const int first = (int)floor(log10(scale->low));
    for (int power = first; pow(10, power) <= scale->high; power++)
        for (size_t i = 0; i < sizeof times / sizeof *times; i++)
            if (scale_holds(scale, pow(10, power) * times[i]) &&
                n < SCALE_TICKS)
                ticks[n++] =
                    (struct scale_tick){.value = pow(10, power) * times[i]};
    return n;
}

static size_t number_ticks(const struct scale *scale,
                           struct scale_tick ticks[SCALE_TICKS])
{
    enum { ENOUGH = 3 };
    if (!scale->log)
        return linear_ticks(scale, ticks);
    size_t n = decade_ticks(scale, ticks);
    if (n < ENOUGH)
        n = fine_ticks(scale, ticks);
    return n < ENOUGH ? linear_ticks(scale, ticks) : n;
}

/* In as many digits as tell neighbours apart, without those that rounding
 * made. */
static void write_numbers(size_t n, struct scale_tick ticks[])
{
    enum { USUAL = 6, MOST = 15 };
    int digits = USUAL;
    if (n > 1) {
        const double largest =
            fmax(fabs(ticks[0].value), fabs(ticks[n - 1].value));
        const double gap = ticks[1].value - ticks[0].value;
        const int need = (int)floor(log10(largest)) - (int)floor(log10(gap));
        digits = need < USUAL ? USUAL : need < MOST ? need + 1 : MOST;
    }
    for (size_t i = 0; i < n; i++)
        snprintf(ticks[i].number, sizeof ticks[i].number, "%.*g", digits,
                 ticks[i].value);
}

size_t scale_ticks(const struct scale *scale,
                   struct scale_tick ticks[SCALE_TICKS])
{
    if (scale->labels != NULL)
        return label_ticks(scale, ticks);
    const size_t n = number_ticks(scale, ticks);
    write_numbers(n, ticks);
    return n;
}

const char *scale_label(const struct scale_tick *tick)
{
    return tick->label != NULL ? tick->label : tick->number;
}
