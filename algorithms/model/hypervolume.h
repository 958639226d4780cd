/* hypervolume.h - how much of a space the points of a front dominate, and the
 * rest of it, as boxes.
 *
 * Larger is better. The space begins at a reference, and what a point is not
 * above it does not count. Exact for any number of objectives, at a cost that
 * grows as the front to the power of one less than those. */
#ifndef HT_ALGORITHMS_MODEL_HYPERVOLUME_H
#define HT_ALGORITHMS_MODEL_HYPERVOLUME_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/pareto.h"

/* The volume between the reference, of front->m values, and the front; 0 for
 * an empty front, or when no member is above the reference. */
double hypervolume(const struct pareto *front, const double reference[]);

/* What lies above the reference and no member covers, cut into boxes along the
 * members' values. A box reaches in objective k from edge `low[k]` to edge
 * `high[k]`, or without end when that is n_edges[k]. */
struct box {
    size_t low[SETTING_METRICS], high[SETTING_METRICS];
};

/* edges[k][0] is the reference's value in objective k. */
struct boxes {
    size_t m; /* objectives */
    size_t n, cap;
    struct box *items;               /* owned */
    size_t n_edges[SETTING_METRICS]; /* at least 1 */
    double *edges[SETTING_METRICS];  /* owned, increasing, from the reference */
};

/* False when they are more than `most`; hypervolume_boxes_fini() either way.
 * The front and the reference, of front->m >= 1 values, are read only here. */
bool hypervolume_boxes_init(struct boxes *boxes, const struct pareto *front,
                            const double reference[], size_t most);
/* Frees what the boxes own, not `boxes` itself; once for each init. */
void hypervolume_boxes_fini(struct boxes *boxes);

#endif
