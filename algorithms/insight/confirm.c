#include "algorithms/insight/confirm.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <stdbool.h>

#include "algorithms/base/order.h"
#include "proto/base/arena.h"

/* Each belief cuts the line at its quantiles, at even steps of their log odds:
 * what lies beyond the outermost is 2e-9 of it. */
enum { CUTS_ASIDE = 40, CUTS = 2 * CUTS_ASIDE + 1 };
static const double cut_step = 0.5;

/* Student's t of a true mean. */
struct belief {
    double mean, scale, freedom; /* scale 0: certain */
};

static double mean_of(const struct confirm_runs *runs)
{
    double sum = 0;
    for (size_t i = 0; i < runs->n; i++)
        sum += runs->values[i];
    return sum / (double)runs->n;
}

static double deviation_of(const struct confirm_runs *runs, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < runs->n; i++)
        sum += (runs->values[i] - mean) * (runs->values[i] - mean);
    return sqrt(sum / ((double)runs->n - 1));
}

static struct belief belief_of(const struct confirm_runs *runs,
                               const struct confirm_standing *standing)
{
    return (struct belief){.mean = standing->mean,
                           .scale = standing->sd / sqrt((double)runs->n),
                           .freedom = (double)runs->n - 1};
}

static void describe(const struct confirm_runs *runs,
                     struct confirm_standing *standing)
{
    *standing = (struct confirm_standing){NAN, NAN, NAN, NAN, NAN};
    if (runs->n == 0)
        return;
    standing->mean = mean_of(runs);
    if (runs->n == 1)
        return;
    standing->sd = deviation_of(runs, standing->mean);
    const struct belief belief = belief_of(runs, standing);
    const double half =
        belief.scale * gsl_cdf_tdist_Pinv(0.975, belief.freedom);
    standing->low = standing->mean - half;
    standing->high = standing->mean + half;
}

/* The chance that the true mean is below x; half of one at a certain mean, as
 * equal ones share. */
static double chance_below(const struct belief *belief, double x)
{
    if (belief->scale > 0)
        return gsl_cdf_tdist_P((x - belief->mean) / belief->scale,
                               belief->freedom);
    return x > belief->mean ? 1 : x < belief->mean ? 0 : 0.5;
}

/* ---- the integral ---- */

/* The line that all true means are on, cut into cells in which all beliefs are
 * smooth, however much their scales differ. */
struct line {
    size_t n; /* beliefs */
    struct belief *beliefs;
    double *chances; /* to be the highest, so far */
    size_t n_cuts;
    double *cuts;                  /* rising */
    double *below;                 /* owned: all of the next */
    double *left, *middle, *right; /* each belief's chance to be below these
                                      places of the cell at hand */
};

/* A certain mean is a step, which gets a separate cell. */
static size_t cut(const struct belief *belief, double cuts[])
{
    if (!(belief->scale > 0)) {
        cuts[0] = nextafter(belief->mean, -INFINITY);
        cuts[1] = nextafter(belief->mean, INFINITY);
        return 2;
    }
    for (int i = 0; i <= CUTS_ASIDE; i++) {
        const double aside =
            belief->scale *
            gsl_cdf_tdist_Qinv(1 / (1 + exp(cut_step * i)), belief->freedom);
        cuts[CUTS_ASIDE - i] = belief->mean - aside;
        cuts[CUTS_ASIDE + i] = belief->mean + aside;
    }
    return CUTS;
}

static void line_init(struct line *line, size_t most)
{
    *line =
        (struct line){.beliefs = ht_xcalloc(most + 1, sizeof *line->beliefs),
                      .chances = ht_xcalloc(most + 1, sizeof *line->chances),
                      .cuts = ht_xcalloc(most * CUTS + 1, sizeof *line->cuts),
                      .below = ht_xcalloc(3 * most + 1, sizeof *line->below)};
    line->left = line->below;
    line->middle = line->left + most;
    line->right = line->middle + most;
}

static void line_fini(struct line *line)
{
    free(line->beliefs);
    free(line->chances);
    free(line->cuts);
    free(line->below);
}

static void line_add(struct line *line, const struct belief *belief)
{
    line->beliefs[line->n++] = *belief;
    line->n_cuts += cut(belief, &line->cuts[line->n_cuts]);
}

static void read_place(const struct line *line, double x, double below[])
{
    for (size_t i = 0; i < line->n; i++)
        below[i] = chance_below(&line->beliefs[i], x);
}

/* The chance that all others are below. */
static double others_below(const struct line *line, const double below[],
                           size_t but)
{
    double product = 1;
    for (size_t i = 0; i < line->n && product > 0; i++)
        product *= i == but ? 1 : below[i];
    return product;
}

/* The integral, over one cell, of the chance that all others are below by this
 * belief's: both are taken as parabolas through three places. */
static double share_of_cell(const struct line *line, size_t at)
{
    const double a = line->left[at], m = line->middle[at], b = line->right[at];
    if (!(b > a))
        return 0;
    const double left = others_below(line, line->left, at);
    const double middle = others_below(line, line->middle, at);
    const double right = others_below(line, line->right, at);
    return (b - a) * (left + 4 * middle + right) / 6 +
           (a - 2 * m + b) * (right - left) / 3;
}

static void integrate(struct line *line)
{
    order_numbers(line->n_cuts, line->cuts);
    read_place(line, line->cuts[0], line->right);
    for (size_t k = 1; k < line->n_cuts; k++) {
        const double from = line->cuts[k - 1], to = line->cuts[k];
        if (!(to > from))
            continue;
        double *old = line->left;
        line->left = line->right;
        line->right = old;
        read_place(line, from + (to - from) / 2, line->middle);
        read_place(line, to, line->right);
        for (size_t i = 0; i < line->n; i++)
            line->chances[i] += share_of_cell(line, i);
    }
}

/* From two runs on, unless the squares of theirs are no numbers. */
static bool can_be_told(const struct confirm_standing *standing)
{
    return isfinite(standing->sd);
}

void confirm_judge(size_t n, const struct confirm_runs runs[],
                   struct confirm_standing standings[])
{
    struct line line;
    double sum = 0;
    size_t at = 0;
    line_init(&line, n);
    for (size_t i = 0; i < n; i++) {
        describe(&runs[i], &standings[i]);
        const struct belief belief = belief_of(&runs[i], &standings[i]);
        if (can_be_told(&standings[i]))
            line_add(&line, &belief);
    }
    integrate(&line);
    for (size_t i = 0; i < line.n; i++)
        sum += line.chances[i];
    for (size_t i = 0; i < n; i++) /* rounding, and what lies beyond the cuts */
        if (can_be_told(&standings[i]))
            standings[i].chance = line.chances[at++] / sum;
    line_fini(&line);
}

/* What is not known yet is worse than anything. */
static double or_least(double figure)
{
    return isnan(figure) ? -INFINITY : figure;
}

static bool is_better(const struct confirm_standing *a,
                      const struct confirm_standing *b)
{
    const double left = or_least(a->chance), right = or_least(b->chance);
    return left != right ? left > right : or_least(a->mean) > or_least(b->mean);
}

void confirm_rank(size_t n, const struct confirm_standing standings[],
                  size_t order[])
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && is_better(&standings[i], &standings[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}
