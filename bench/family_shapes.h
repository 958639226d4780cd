/* family_shapes.h - shapes of random functions on the unit cube; smaller is
 * better, and each is a function of its seed alone.
 *
 * Made for this purpose; draws of a Gaussian process by random features as
 * Rahimi and Recht have them (2007), the spectrum of a Matern 5/2 covariance
 * being Student's t with 5 degrees of freedom. */
#ifndef HT_BENCH_FAMILY_SHAPES_H
#define HT_BENCH_FAMILY_SHAPES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "algorithms/base/rng.h"

enum {
    SHAPE_DIM = 60,
    SUMMITS_MOST = 6,
    DRAW_FEATURES = 200,
    DRAW_DIM = 12,
    TREES = 20,
    TREE_NODES = 512 /* a tree of 256 rows has less */
};

/* ---- random numbers of an instance ---- */

struct dice {
    struct rng_place place;
    uint64_t next;
};

static double roll(struct dice *dice)
{
    return rng_unit(&dice->place, dice->next++);
}

static double roll_between(struct dice *dice, double low, double high)
{
    return low + (high - low) * roll(dice);
}

static double roll_log(struct dice *dice, double low, double high)
{
    return low * pow(high / low, roll(dice));
}

static size_t roll_size(struct dice *dice, size_t low, size_t high)
{
    return low + (size_t)(roll(dice) * (double)(high - low + 1));
}

static double roll_normal(struct dice *dice)
{
    const double radius = sqrt(-2 * log(1 - roll(dice)));
    return radius * cos(2 * M_PI * roll(dice));
}

/* ---- summits: bumps of all widths; the best one is narrow ---- */

struct summits {
    size_t n;
    double at[SUMMITS_MOST][SHAPE_DIM], width[SUMMITS_MOST][SHAPE_DIM];
    double height[SUMMITS_MOST];
};

static void summits_make(struct summits *summits, size_t dim, struct dice *dice)
{
    summits->n = roll_size(dice, 3, SUMMITS_MOST);
    for (size_t k = 0; k < summits->n; k++) {
        const double width = k == 0 ? roll_between(dice, 0.06, 0.15)
                                    : roll_between(dice, 0.15, 0.5);
        summits->height[k] = k == 0 ? 1 : roll_between(dice, 0.3, 0.85);
        for (size_t i = 0; i < dim; i++) {
            summits->at[k][i] = roll_between(dice, 0.05, 0.95);
            summits->width[k][i] = width * roll_log(dice, 0.7, 2);
        }
    }
}

/* The narrow one is above a broad one of its own, so that there is a way. */
static double summits_value(const struct summits *summits, size_t dim,
                            const double u[])
{
    double best = 0;
    for (size_t k = 0; k < summits->n; k++) {
        double sum = 0;
        for (size_t i = 0; i < dim; i++) {
            const double gap =
                (u[i] - summits->at[k][i]) / summits->width[k][i];
            sum += gap * gap / (double)dim;
        }
        const double base = k == 0 ? 0.5 * exp(-sum / 8) : 0;
        const double bump = (1 - (k == 0 ? 0.5 : 0)) * exp(-sum / 2);
        best = fmax(best, summits->height[k] * (base + bump));
    }
    return -best;
}

/* ---- funnels: a slope to one place, with waves upon it ---- */

struct funnel {
    double at[SHAPE_DIM], turn[SHAPE_DIM][SHAPE_DIM];
    double power, waves, depth;
};

/* Rows are turned into each other by random angles: an orthogonal matrix. */
static void turn_make(size_t dim, double turn[][SHAPE_DIM], struct dice *dice)
{
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < dim; j++)
            turn[i][j] = i == j;
    for (size_t i = 0; i < dim; i++)
        for (size_t j = i + 1; j < dim; j++) {
            const double angle = roll_between(dice, 0, 2 * M_PI);
            const double c = cos(angle), s = sin(angle);
            for (size_t k = 0; k < dim; k++) {
                const double a = turn[i][k], b = turn[j][k];
                turn[i][k] = c * a - s * b;
                turn[j][k] = s * a + c * b;
            }
        }
}

static void funnel_make(struct funnel *funnel, size_t dim, struct dice *dice)
{
    for (size_t i = 0; i < dim; i++)
        funnel->at[i] = roll_between(dice, 0.1, 0.9);
    turn_make(dim, funnel->turn, dice);
    funnel->power = roll_between(dice, 0.6, 2);
    funnel->waves = roll_between(dice, 1, 5);
    funnel->depth = roll_between(dice, 0, 0.25);
}

static double funnel_value(const struct funnel *funnel, size_t dim,
                           const double u[])
{
    double sum = 0, waves = 0;
    for (size_t i = 0; i < dim; i++) {
        double z = 0;
        for (size_t j = 0; j < dim; j++)
            z += funnel->turn[i][j] * (u[j] - funnel->at[j]);
        sum += z * z / (double)dim;
        waves += (1 - cos(2 * M_PI * funnel->waves * z)) / (double)dim;
    }
    return pow(sqrt(sum), funnel->power) + funnel->depth * waves / 2;
}

/* ---- valleys: bent, and steep across ---- */

struct valley {
    double at[SHAPE_DIM], bend[SHAPE_DIM], steep;
};

static void valley_make(struct valley *valley, size_t dim, struct dice *dice)
{
    valley->steep = roll_log(dice, 3, 100);
    for (size_t i = 0; i < dim; i++) {
        valley->at[i] = roll_between(dice, 0.15, 0.85);
        valley->bend[i] = roll_between(dice, -1.5, 1.5);
    }
}

static double valley_value(const struct valley *valley, size_t dim,
                           const double u[])
{
    double sum = 0;
    for (size_t i = 0; i < dim; i++) {
        const double z = u[i] - valley->at[i];
        sum += z * z;
        if (i + 1 == dim)
            continue;
        const double across =
            u[i + 1] - valley->at[i + 1] - valley->bend[i] * (z * z + z / 2);
        sum += valley->steep * across * across;
    }
    return log1p(sum);
}

/* ---- draws of a Gaussian process ---- */

struct draw {
    size_t n; /* coordinates it depends on */
    size_t of[DRAW_DIM];
    double frequency[DRAW_FEATURES][DRAW_DIM], phase[DRAW_FEATURES];
};

static void draw_make(struct draw *draw, size_t n, const size_t of[],
                      double shortest, struct dice *dice)
{
    double length[DRAW_DIM];
    draw->n = n;
    for (size_t i = 0; i < n; i++) {
        draw->of[i] = of[i];
        length[i] = roll_log(dice, shortest, 3);
    }
    for (size_t f = 0; f < DRAW_FEATURES; f++) {
        double squares = 0;
        for (int k = 0; k < 5; k++)
            squares += pow(roll_normal(dice), 2);
        for (size_t i = 0; i < n; i++)
            draw->frequency[f][i] =
                roll_normal(dice) / length[i] / sqrt(squares / 5);
        draw->phase[f] = roll_between(dice, 0, 2 * M_PI);
    }
}

static double draw_value(const struct draw *draw, const double u[])
{
    double sum = 0;
    for (size_t f = 0; f < DRAW_FEATURES; f++) {
        double at = draw->phase[f];
        for (size_t i = 0; i < draw->n; i++)
            at += draw->frequency[f][i] * u[draw->of[i]];
        sum += cos(at);
    }
    return sum * sqrt(2.0 / DRAW_FEATURES);
}

/* ---- losses: how training depends on what it is given ---- */

struct losses {
    double at[SHAPE_DIM], below[SHAPE_DIM], above[SHAPE_DIM];
    double with_next[SHAPE_DIM], cliff;
};

static void losses_make(struct losses *losses, size_t dim, struct dice *dice)
{
    losses->cliff = roll_between(dice, 0.15, 0.5);
    for (size_t i = 0; i < dim; i++) {
        const double effect = roll_log(dice, 0.05, 3);
        losses->at[i] = roll_between(dice, 0.2, 0.8);
        losses->below[i] = effect * roll_log(dice, 0.3, 3);
        losses->above[i] = effect * roll_log(dice, 0.3, 3);
        losses->with_next[i] = roll_between(dice, -0.6, 0.6);
    }
}

/* The first is the step width of a training: too far up it diverges, the
 * sooner the larger the second is. */
static double losses_value(const struct losses *losses, size_t dim,
                           const double u[])
{
    double sum = 0;
    for (size_t i = 0; i < dim; i++) {
        const double next = i + 1 < dim ? u[i + 1] - losses->at[i + 1] : 0;
        const double gap = u[i] - losses->at[i] - losses->with_next[i] * next;
        sum += (gap < 0 ? losses->below[i] : losses->above[i]) * gap * gap;
    }
    const double over = u[0] - losses->at[0] - losses->cliff + 0.2 * u[1];
    return 1 - exp(-sum) + (over > 0 ? 1 + 3 * over : 0);
}

/* ---- trees: constant on boxes ---- */

struct tree_node {
    size_t coordinate; /* SHAPE_DIM: a leaf */
    double cut, value; /* below the cut comes the next node */
    size_t above;
};

struct trees {
    size_t n;
    struct tree_node node[TREES][TREE_NODES];
};

static size_t tree_grow(struct tree_node node[], size_t *n, size_t dim,
                        double low[], double high[], int depth,
                        struct dice *dice)
{
    const size_t at = (*n)++;
    struct tree_node *own = &node[at];
    own->coordinate = depth == 0 ? SHAPE_DIM : roll_size(dice, 0, dim - 1);
    if (depth == 0) {
        own->value = roll_normal(dice);
        return at;
    }
    const size_t c = own->coordinate;
    const double cut = roll_between(dice, low[c], high[c]);
    const double top = high[c], bottom = low[c];
    own->cut = cut;
    high[c] = cut;
    tree_grow(node, n, dim, low, high, depth - 1, dice);
    high[c] = top;
    low[c] = cut;
    own->above = tree_grow(node, n, dim, low, high, depth - 1, dice);
    low[c] = bottom;
    return at;
}

static void trees_make(struct trees *trees, size_t dim, struct dice *dice)
{
    trees->n = roll_size(dice, 3, TREES);
    for (size_t k = 0; k < trees->n; k++) {
        double low[SHAPE_DIM] = {0}, high[SHAPE_DIM];
        size_t n = 0;
        for (size_t i = 0; i < dim; i++)
            high[i] = 1;
        tree_grow(trees->node[k], &n, dim, low, high,
                  (int)roll_size(dice, 4, 7), dice);
    }
}

static double trees_value(const struct trees *trees, const double u[])
{
    double sum = 0;
    for (size_t k = 0; k < trees->n; k++) {
        const struct tree_node *node = trees->node[k];
        size_t i = 0;
        while (node[i].coordinate != SHAPE_DIM)
            i = u[node[i].coordinate] < node[i].cut ? i + 1 : node[i].above;
        sum += node[i].value;
    }
    return sum / (double)trees->n;
}

/* Grows a tree over rows of a table, one cut at random at a time, until few
 * are left, whose mean is the leaf's value. `order` is sorted in place. */
struct table {
    size_t n, dim;
    const double *x, *y; /* rows of dim coordinates, and their values */
};

static size_t tree_fit(struct tree_node node[], size_t *n,
                       const struct table *table, size_t order[], size_t rows,
                       struct dice *dice)
{
    enum { FEW = 4 };
    const size_t at = (*n)++, c = roll_size(dice, 0, table->dim - 1);
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (size_t i = 0; i < rows; i++) {
        const double u = table->x[order[i] * table->dim + c];
        low = fmin(low, u);
        high = fmax(high, u);
        sum += table->y[order[i]] / (double)rows;
    }
    node[at] = (struct tree_node){.coordinate = SHAPE_DIM, .value = sum};
    const double cut = roll_between(dice, low, high);
    size_t below = 0;
    for (size_t i = 0; i < rows; i++)
        if (table->x[order[i] * table->dim + c] < cut) {
            const size_t row = order[i];
            order[i] = order[below];
            order[below++] = row;
        }
    if (rows <= FEW || below == 0 || below == rows)
        return at;
    node[at].coordinate = c;
    node[at].cut = cut;
    tree_fit(node, n, table, order, below, dice);
    node[at].above =
        tree_fit(node, n, table, order + below, rows - below, dice);
    return at;
}

#endif
