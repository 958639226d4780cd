#include "algorithms/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/order.h"
#include "algorithms/rng.h"
#include "proto/arena.h"

enum {
    CELLS = 50,      /* of a coordinate, at most */
    LEAST_GOOD = 5,  /* results that count as good */
    GOOD_SHARE = 10, /* one of so many */
    POINTS = 512     /* of each of Jansen's two samples */
};

/* ---- where good results lie ---- */

/* Results that have the goal, best first. */
struct ranking {
    size_t n, good;
    const double **x; /* owned, their coordinates */
};

static struct ranking rank(const struct history *history, size_t goal)
{
    struct ranking ranking = {0};
    struct ranked *order = ht_xcalloc(history->n + 1, sizeof *order);
    for (size_t i = 0; i < history->n; i++)
        if (!isnan(history_value(history, i, goal)))
            order[ranking.n++] =
                (struct ranked){history_value(history, i, goal), i};
    order_ranked(ranking.n, order);
    ranking.x = ht_xcalloc(ranking.n + 1, sizeof(double *));
    for (size_t i = 0; i < ranking.n; i++)
        ranking.x[i] = history->x + order[i].at * history->encoding->dim;
    ranking.good = (ranking.n + GOOD_SHARE - 1) / GOOD_SHARE;
    if (ranking.good < LEAST_GOOD)
        ranking.good = LEAST_GOOD;
    free(order);
    return ranking;
}

static double below(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* How wide a kernel around n positions should be (Scott, "Multivariate Density
 * Estimation", 1992), no narrower than a cell. */
static double bandwidth(const struct ranking *ranking, size_t n, size_t c,
                        double cell)
{
    double count = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double u = ranking->x[i][c];
        if (u == COORDINATE_ABSENT)
            continue;
        count++;
        sum += u;
        squares += u * u;
    }
    const double mean = sum / count;
    const double spread = sqrt(fmax(squares / count - mean * mean, 0));
    return fmax(1.059 * spread * pow(count, -0.2), cell);
}

/* Adds a smooth bump around u, of weight 1, to the cells of [0, 1]. */
static void add_bump(size_t cells, double u, double width, double mass[])
{
    const double all = below((1 - u) / width) - below(-u / width);
    for (size_t g = 0; g < cells; g++) {
        const double low = (double)g / (double)cells;
        const double high = (double)(g + 1) / (double)cells;
        mass[g] += (below((high - u) / width) - below((low - u) / width)) / all;
    }
}

/* The distribution of coordinate c over its cells in the first n results where
 * it is present, with one even result as a prior. Returns how many they are. */
static size_t density(const struct encoding *encoding,
                      const struct ranking *ranking, size_t n, size_t c,
                      size_t cells, double mass[])
{
    const bool category = encoding->at[c].kind == COORDINATE_CATEGORY;
    const double width =
        category ? 0 : bandwidth(ranking, n, c, 0.5 / (double)cells);
    size_t present = 0;
    for (size_t g = 0; g < cells; g++)
        mass[g] = 1 / (double)cells;
    for (size_t i = 0; i < n; i++) {
        const double u = ranking->x[i][c];
        if (u == COORDINATE_ABSENT)
            continue;
        present++;
        if (category)
            mass[(size_t)u] += 1;
        else
            add_bump(cells, u, width, mass);
    }
    for (size_t g = 0; g < cells; g++)
        mass[g] /= (double)present + 1;
    return present;
}

/* The Pearson divergence of good results from all of them, where the
 * coordinate is present; weighted by how much more often it is so in good
 * ones. */
static double divergence(const struct encoding *encoding,
                         const struct ranking *ranking, size_t c)
{
    const struct coordinate *at = &encoding->at[c];
    const size_t cells = at->levels > 0 && (at->kind == COORDINATE_CATEGORY ||
                                            at->levels < CELLS)
                             ? at->levels
                             : CELLS;
    double *all = ht_xcalloc(2 * cells, sizeof *all), *good = all + cells;
    const size_t n_good =
        density(encoding, ranking, ranking->good, c, cells, good);
    const size_t n_all = density(encoding, ranking, ranking->n, c, cells, all);
    double sum = 0;
    for (size_t g = 0; g < cells; g++)
        sum += all[g] * pow(good[g] / all[g] - 1, 2);
    free(all);
    if (n_good == 0)
        return 0;
    const double share_good = (double)n_good / (double)ranking->good;
    const double share_all = (double)n_all / (double)ranking->n;
    return share_good * share_good / share_all * sum;
}

bool importance_of_good(const struct history *history, size_t goal,
                        double share[])
{
    const size_t dim = history->encoding->dim;
    struct ranking ranking = rank(history, goal);
    const bool enough = ranking.n >= IMPORTANCE_LEAST;
    double sum = 0;
    for (size_t c = 0; enough && c < dim; c++) {
        share[c] = divergence(history->encoding, &ranking, c);
        sum += share[c];
    }
    for (size_t c = 0; enough && c < dim; c++)
        share[c] = sum > 0 ? share[c] / sum : 0;
    free(ranking.x);
    return enough;
}

/* ---- in the model ---- */

static void draw_points(const struct encoding *encoding, uint64_t sample,
                        double x[])
{
    for (uint64_t i = 0; i < POINTS; i++) {
        const struct rng_place place = {sample, i, 0};
        for (size_t c = 0; c < encoding->dim; c++)
            x[i * encoding->dim + c] =
                encoding_draw(encoding, c, rng_unit(&place, c));
    }
}

/* The model's mean at points whose coordinates all have a value; what has no
 * place there is made absent first. */
static void means(const struct encoding *encoding,
                  const struct goal_model *model, const double x[],
                  double mean[])
{
    double row[HT_MAX_PARAMETERS];
    for (size_t i = 0; i < POINTS; i++) {
        memcpy(row, x + i * encoding->dim, encoding->dim * sizeof *row);
        encoding_settle(encoding, row, row);
        mean[i] = goal_model_mean(model, row);
    }
}

static double variance_of(size_t n, const double a[], const double b[])
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] + b[i];
        squares += a[i] * a[i] + b[i] * b[i];
    }
    const double count = 2 * (double)n;
    return fmax(squares / count - (sum / count) * (sum / count), 0);
}

static double mean_square_gap(size_t n, const double a[], const double b[])
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum / (double)n;
}

/* Two samples A and B, and for each coordinate A with that one of B: what it
 * does alone shows in how far this stays from B, what it does in all in how far
 * it leaves A. */
void importance_in_model(const struct encoding *encoding,
                         const struct goal_model *model, struct sobol shares[])
{
    const size_t dim = encoding->dim, size = POINTS * dim;
    double *a = ht_xcalloc(3 * (size + POINTS), sizeof *a), *b = a + size;
    double *mixed = b + size, *at_a = mixed + size, *at_b = at_a + POINTS;
    double *at_mixed = at_b + POINTS;
    draw_points(encoding, 1, a);
    draw_points(encoding, 2, b);
    means(encoding, model, a, at_a);
    means(encoding, model, b, at_b);
    const double variance = variance_of(POINTS, at_a, at_b);
    for (size_t c = 0; c < dim; c++) {
        memcpy(mixed, a, size * sizeof *a);
        for (size_t i = 0; i < POINTS; i++)
            mixed[i * dim + c] = b[i * dim + c];
        means(encoding, model, mixed, at_mixed);
        shares[c] = (struct sobol){0, 0};
        if (variance <= 1e-12)
            continue;
        const double rest = mean_square_gap(POINTS, at_b, at_mixed) / 2;
        const double all = mean_square_gap(POINTS, at_a, at_mixed) / 2;
        shares[c].alone = fmin(fmax(1 - rest / variance, 0), 1);
        shares[c].total = fmin(all / variance, 1);
    }
    free(a);
}
