/* figures.h - the figures of a page about a study. */
#ifndef HT_HYPERTUNE_CLI_REPORT_FIGURES_H
#define HT_HYPERTUNE_CLI_REPORT_FIGURES_H

#include "hypertune/cli/report/content.h"
#include "proto/base/text.h"

/* Append one figure each, with a caption, or nothing where there is too little
 * to see. The best trials are marked in all of them. */

/* The results of a goal in the order of the trials, and the best so far. */
void figure_history(const struct content *content, const struct node *metric,
                    struct text *out);
/* The first two goals against each other. */
void figure_front(const struct content *content, struct text *out);
/* The objective in the course of the best trials. */
void figure_curves(const struct content *content, struct text *out);
/* How much each parameter matters. */
void figure_importances(const struct content *content, struct text *out);
/* The objective over each parameter, the most important first; several. */
void figure_slices(const struct content *content, struct text *out);

#endif
