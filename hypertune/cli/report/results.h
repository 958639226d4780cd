/* results.h - the results of a study for one metric, as dots of a figure. */
#ifndef HT_HYPERTUNE_CLI_REPORT_RESULTS_H
#define HT_HYPERTUNE_CLI_REPORT_RESULTS_H

#include "hypertune/cli/report/content.h"
#include "hypertune/cli/report/plot.h"

/* The trials with a result, in the order of their ids; in the arena. */
struct results {
    struct arena *arena;
    const char *metric;
    bool maximize;
    size_t n;
    const struct node **trials;
    double *ids, *values;
    struct scale scale;
};

/* Finds all that count; false when there is none. */
bool results_collect(const struct content *content, const struct node *metric,
                     struct results *results);
/* Draws a dot for each at xs[] across, by what became of the trial; the best
 * on top. */
void results_draw(const struct content *content, const struct results *results,
                  const double xs[], const struct plot *plot);
/* Ends a figure with a caption, foreign text, and how many values are not on
 * the scale; NULL: all are. */
void results_end(const char *caption, const struct results *results,
                 struct text *out);

#endif
