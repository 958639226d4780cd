#include "algorithms/model/forest.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "proto/base/arena.h"

enum {
    TREES = 48,
    MOST_DRAWN = 256, /* points of a tree: of many results, some are enough */
    LEAST_TO_SPLIT = 2
};

static const double tried_share = 0.83; /* of the coordinates, at a node */
/* Values this near are one leaf; variance this small is none. */
static const double same_value = 1e-12;
static const double least_variance = 1e-6;

struct branch { /* a node: a leaf where `at` is NO_CUT */
    size_t at;  /* the coordinate that is cut */
    double cut; /* numbers below it go to `yes`, categories equal to it */
    size_t yes, no;
    double mean, variance; /* of the values that came here */
};

static const size_t no_cut = (size_t)-1;

struct forest {
    const struct encoding *encoding; /* borrowed */
    size_t n, cap;
    struct branch *branches; /* owned, of all trees */
    size_t roots[TREES];
};

/* ---- growing ---- */

struct growth {
    struct forest *forest;
    const struct sample *sample;
    struct rng_place place;
    uint64_t drawn;
};

static double draw(struct growth *growth)
{
    return rng_unit(&growth->place, growth->drawn++);
}

static bool is_yes(const struct encoding *encoding, size_t at, double cut,
                   const double x[])
{
    return encoding->at[at].kind == COORDINATE_CATEGORY ? x[at] == cut
                                                        : x[at] < cut;
}

static size_t add_leaf(struct growth *growth, size_t n, const size_t index[])
{
    struct forest *forest = growth->forest;
    double sum = 0, squares = 0;
    if (forest->n == forest->cap) {
        forest->cap = forest->cap == 0 ? 1024 : 2 * forest->cap;
        forest->branches = ht_xrealloc(forest->branches, forest->cap,
                                       sizeof *forest->branches);
    }
    for (size_t i = 0; i < n; i++)
        sum += growth->sample->y[index[i]];
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double off = growth->sample->y[index[i]] - mean;
        squares += off * off;
    }
    forest->branches[forest->n] = (struct branch){
        .at = no_cut, .mean = mean, .variance = squares / (double)n};
    return forest->n++;
}

/* A cut of coordinate c somewhere between the points, NaN when all are at one
 * place. */
static double draw_cut(struct growth *growth, size_t c, size_t n,
                       const size_t index[])
{
    const struct sample *sample = growth->sample;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double u = sample_row(sample, index[i])[c];
        low = fmin(low, u);
        high = fmax(high, u);
    }
    if (!(low < high))
        return NAN;
    const double u = draw(growth);
    if (sample->encoding->at[c].kind == COORDINATE_CATEGORY)
        return sample_row(sample, index[(size_t)(u * (double)n)])[c];
    return high - (high - low) * u; /* in (low, high]: both sides have some */
}

/* How much smaller a cut makes the sum of squares. */
static double gain_of(const struct growth *growth, size_t c, double cut,
                      size_t n, const size_t index[])
{
    const struct sample *sample = growth->sample;
    double yes = 0, no = 0, n_yes = 0, n_no = 0;
    for (size_t i = 0; i < n; i++) {
        const double y = sample->y[index[i]];
        if (is_yes(sample->encoding, c, cut, sample_row(sample, index[i]))) {
            yes += y;
            n_yes++;
        } else {
            no += y;
            n_no++;
        }
    }
    const double gap = yes / n_yes - no / n_no;
    return n_yes * n_no / (n_yes + n_no) * gap * gap;
}

/* Chooses the best of the drawn cuts; false when none tells values apart. */
static bool choose_cut(struct growth *growth, size_t n, const size_t index[],
                       struct branch *branch)
{
    double best = 0;
    for (size_t c = 0; c < growth->sample->encoding->dim; c++) {
        if (draw(growth) >= tried_share)
            continue;
        const double cut = draw_cut(growth, c, n, index);
        const double gain = isnan(cut) ? 0 : gain_of(growth, c, cut, n, index);
        if (gain > best) {
            best = gain;
            branch->at = c;
            branch->cut = cut;
        }
    }
    return best > 0;
}

/* Brings the points of the yes side to the front; returns how many. */
static size_t part(const struct sample *sample, const struct branch *branch,
                   size_t n, size_t index[])
{
    size_t yes = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t point = index[i];
        if (is_yes(sample->encoding, branch->at, branch->cut,
                   sample_row(sample, point))) {
            index[i] = index[yes];
            index[yes++] = point;
        }
    }
    return yes;
}

/* A node of n points at indexes, and all below it: every cut leaves points on
 * both sides, so the depth is at most n. */
static size_t grow(struct growth *growth, size_t n, size_t index[])
{
    const size_t at = add_leaf(growth, n, index);
    struct branch branch = growth->forest->branches[at];
    if (n < LEAST_TO_SPLIT || branch.variance < same_value ||
        !choose_cut(growth, n, index, &branch))
        return at;
    const size_t yes = part(growth->sample, &branch, n, index);
    branch.yes = grow(growth, yes, index);
    branch.no = grow(growth, n - yes, index + yes);
    growth->forest->branches[at] = branch;
    return at;
}

struct forest *forest_new(const struct sample *sample,
                          const struct rng_place *place)
{
    const size_t n = sample->n < MOST_DRAWN ? sample->n : MOST_DRAWN;
    struct forest *forest = ht_xcalloc(1, sizeof *forest);
    struct growth growth = {forest, sample, *place, 0};
    size_t *index = ht_xcalloc(n, sizeof *index);
    forest->encoding = sample->encoding;
    for (size_t t = 0; t < TREES; t++, growth.place.draw++) {
        growth.drawn = 0;
        for (size_t i = 0; i < n; i++)
            index[i] = (size_t)(draw(&growth) * (double)sample->n);
        forest->roots[t] = grow(&growth, n, index);
    }
    free(index);
    return forest;
}

void forest_free(struct forest *forest)
{
    if (forest == NULL)
        return;
    free(forest->branches);
    free(forest);
}

/* ---- answering ---- */

static const struct branch *leaf_at(const struct forest *forest, size_t tree,
                                    const double x[])
{
    const struct branch *at = &forest->branches[forest->roots[tree]];
    while (at->at != no_cut)
        at = &forest->branches[is_yes(forest->encoding, at->at, at->cut, x)
                                   ? at->yes
                                   : at->no];
    return at;
}

/* Trees are as likely as each other, so the variance is that within them and
 * that between them. */
void forest_predict(const struct forest *forest, const double x[], double *mean,
                    double *variance)
{
    double sum = 0, squares = 0, within = 0;
    for (size_t t = 0; t < TREES; t++) {
        const struct branch *leaf = leaf_at(forest, t, x);
        sum += leaf->mean;
        squares += leaf->mean * leaf->mean;
        within += leaf->variance;
    }
    *mean = sum / TREES;
    *variance = fmax(squares / TREES - *mean * *mean, 0) + within / TREES +
                least_variance;
}
