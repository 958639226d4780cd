#include "algorithms/model/hypervolume.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/arena.h"

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The members that still count, in a cut of the space. */
struct subset {
    const struct pareto *front;
    size_t n;
    size_t *at; /* owned */
};

static struct subset subset_of_all(const struct pareto *front)
{
    struct subset all = {front, front->n,
                         ht_xcalloc(front->n + 1, sizeof *all.at)};
    for (size_t i = 0; i < front->n; i++)
        all.at[i] = i;
    return all;
}

static double value(const struct subset *subset, size_t i, size_t k)
{
    return pareto_values(subset->front, subset->at[i])[k];
}

/* The points that reach at least `level` in objective k. */
static struct subset subset_from(const struct subset *of, size_t k,
                                 double level)
{
    struct subset part = {of->front, 0, ht_xcalloc(of->n + 1, sizeof *part.at)};
    for (size_t i = 0; i < of->n; i++)
        if (value(of, i, k) >= level)
            part.at[part.n++] = of->at[i];
    return part;
}

/* The different values of objective k from `from` on, that one first; the
 * caller's. */
static double *levels_of(const struct subset *subset, size_t k, double from,
                         size_t *n)
{
    double *levels = ht_xcalloc(subset->n + 1, sizeof *levels);
    size_t found = 0, kept = 0;
    levels[found++] = from;
    for (size_t i = 0; i < subset->n; i++)
        if (value(subset, i, k) > from)
            levels[found++] = value(subset, i, k);
    qsort(levels, found, sizeof *levels, compare);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || levels[i] != levels[kept - 1])
            levels[kept++] = levels[i];
    *n = kept;
    return levels;
}

/* ---- what they dominate ---- */

/* In objectives 0 to k: slabs along k, each with what those dominate that
 * reach above it. */
static double volume(const struct subset *subset, const double reference[],
                     size_t k)
{
    size_t n;
    double *levels = levels_of(subset, k, reference[k], &n), sum = 0;
    if (k == 0)
        sum = levels[n - 1] - levels[0];
    for (size_t i = 0; k > 0 && i + 1 < n; i++) {
        struct subset above = subset_from(subset, k, levels[i + 1]);
        sum += (levels[i + 1] - levels[i]) * volume(&above, reference, k - 1);
        free(above.at);
    }
    free(levels);
    return sum;
}

double hypervolume(const struct pareto *front, const double reference[])
{
    struct subset all = subset_of_all(front);
    const double sum =
        front->m == 0 ? 0 : volume(&all, reference, front->m - 1);
    free(all.at);
    return sum;
}

/* ---- what they do not ---- */

static size_t edge_of(const struct boxes *boxes, size_t k, double level)
{
    const double *edge = bsearch(&level, boxes->edges[k], boxes->n_edges[k],
                                 sizeof level, compare);
    return (size_t)(edge - boxes->edges[k]);
}

static bool add_box(struct boxes *boxes, const struct box *box, size_t most)
{
    if (boxes->n == most)
        return false;
    if (boxes->n == boxes->cap) {
        boxes->cap = boxes->cap == 0 ? 16 : 2 * boxes->cap;
        boxes->items =
            ht_xrealloc(boxes->items, boxes->cap, sizeof *boxes->items);
    }
    boxes->items[boxes->n++] = *box;
    return true;
}

/* Cuts objectives 0 to k as volume() does; in the first one it is open above
 * the best of the points that reach into the slab. */
static bool cut(struct boxes *boxes, const struct subset *subset, size_t k,
                struct box *box, size_t most)
{
    size_t n;
    double *levels = levels_of(subset, k, boxes->edges[k][0], &n);
    bool fits = true;
    if (k == 0) {
        box->low[0] = edge_of(boxes, 0, levels[n - 1]);
        box->high[0] = boxes->n_edges[0];
        fits = add_box(boxes, box, most);
    }
    for (size_t i = 0; k > 0 && i < n && fits; i++) {
        const double top = i + 1 < n ? levels[i + 1] : INFINITY;
        struct subset above = subset_from(subset, k, top);
        box->low[k] = edge_of(boxes, k, levels[i]);
        box->high[k] = i + 1 < n ? edge_of(boxes, k, top) : boxes->n_edges[k];
        fits = cut(boxes, &above, k - 1, box, most);
        free(above.at);
    }
    free(levels);
    return fits;
}

bool hypervolume_boxes_init(struct boxes *boxes, const struct pareto *front,
                            const double reference[], size_t most)
{
    struct box box = {0};
    struct subset all = subset_of_all(front);
    *boxes = (struct boxes){.m = front->m};
    for (size_t k = 0; k < front->m; k++)
        boxes->edges[k] = levels_of(&all, k, reference[k], &boxes->n_edges[k]);
    const bool fits = cut(boxes, &all, front->m - 1, &box, most);
    free(all.at);
    return fits;
}

void hypervolume_boxes_fini(struct boxes *boxes)
{
    for (size_t k = 0; k < boxes->m; k++)
        free(boxes->edges[k]);
    free(boxes->items);
}
