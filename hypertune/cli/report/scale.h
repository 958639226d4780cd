/* scale.h - the axes of figures: from values to places, and where ticks are.
 *
 * A scale is open and is copied freely; it borrows its labels. */
#ifndef HT_HYPERTUNE_CLI_REPORT_SCALE_H
#define HT_HYPERTUNE_CLI_REPORT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

struct scale {
    double low, high; /* the ends, low < high; above 0 when log */
    bool log;
    const char *const *labels; /* of the values 0, 1, ...; NULL: numbers */
    size_t n_labels;
};

/* A scale from one end to the other; equal ends are moved apart. `log` is
 * ignored where an end is not above 0. */
struct scale scale_of(double low, double high, bool log);
/* One place for each label. */
struct scale scale_of_labels(size_t n, const char *const labels[]);
/* A scale for the n results, all finite, n above 0: logarithmic where a linear
 * one would not show the best ones apart; without outliers, which would squeeze
 * the others, but always with the best. */
struct scale scale_of_results(size_t n, const double values[], bool maximize);

/* 0 at the low end to 1 at the high one; outside of these for values that are
 * outside. */
double scale_place(const struct scale *scale, double value);
bool scale_holds(const struct scale *scale, double value);

struct scale_tick {
    double value;
    const char *label; /* of a scale with labels; NULL: the number is */
    char number[24];
};
/* Round values within the scale (0.01, 0.1, 1 when it is log), at most
 * SCALE_TICKS; returns their number. */
enum { SCALE_TICKS = 12 };
size_t scale_ticks(const struct scale *scale,
                   struct scale_tick ticks[SCALE_TICKS]);

/* Its words: foreign text, borrowed from the tick or its scale. */
const char *scale_label(const struct scale_tick *tick);

#endif
