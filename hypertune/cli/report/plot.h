/* plot.h - one plot as SVG: axes, points and lines. How it looks is in the
 * page's style, by classes. */
#ifndef HT_HYPERTUNE_CLI_REPORT_PLOT_H
#define HT_HYPERTUNE_CLI_REPORT_PLOT_H

#include <stddef.h>

#include "hypertune/cli/report/scale.h"
#include "proto/base/text.h"

struct plot {
    struct text *out; /* borrowed */
    struct scale x, y;
};

/* Begins it with both axes. `label` says what it shows, to those who do not
 * see it. Names are foreign text. */
void plot_begin(const struct plot *plot, const char *label, const char *x_name,
                const char *y_name);
/* Points as dots of that class (a literal). What is outside of the scales is
 * left out. `tips`, foreign text of each point or NULL, is shown under the
 * pointer. */
void plot_points(const struct plot *plot, const char *kind, size_t n,
                 const double xs[], const double ys[],
                 const char *const tips[]);
/* A line, which runs along the edge where it is outside. */
void plot_line(const struct plot *plot, const char *kind, size_t n,
               const double xs[], const double ys[]);
void plot_end(const struct plot *plot);

/* Bars of shares from 0 to 1, one below the other, the name of each before it
 * and `words` behind it. */
struct plot_bar {
    const char *name; /* foreign */
    double share;
    const char *words;
};
void plot_bars(const char *label, size_t n, const struct plot_bar bars[],
               struct text *out);

#endif
