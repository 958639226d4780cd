#include "algorithms/model/ehvi.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/base/normal.h"
#include "proto/base/arena.h"

enum {
    MOST_CUT = 2,    /* objectives whose space is cut into boxes */
    MOST_BOXES = 400 /* of it */
};

/* Where pieces of a ray end, beyond the front, in units of the beliefs. */
static const double pieces[] = {0, 0.04, 0.12, 0.3, 0.6, 1.2, 2.5};
enum { PIECES = sizeof pieces / sizeof *pieces - 1 };

/* ---- a ray ---- */

static void draw_direction(size_t m, const struct rng_place *place,
                           double direction[])
{
    double squares = 0;
    for (size_t k = 0; k < m; k++) {
        direction[k] = fabs(rng_normal(place, k));
        squares += direction[k] * direction[k];
    }
    for (size_t k = 0; k < m; k++)
        direction[k] = fmax(direction[k] / sqrt(squares), 1e-6);
}

double ehvi_reach(size_t m, const double values[], const double reference[],
                  const double direction[])
{
    double least = INFINITY;
    for (size_t k = 0; k < m; k++)
        least = fmin(least, (values[k] - reference[k]) / direction[k]);
    return fmax(least, 0);
}

/* The volume is proportional to the mean over rays of t^m, t being the way to
 * its end along one. A piece counts as reached from its middle on. */
static void cast_ray(struct ehvi *ehvi, const struct pareto *front,
                     const double reference[], const struct rng_place *place)
{
    const size_t m = ehvi->m;
    double end = 0;
    draw_direction(m, place, ehvi->direction);
    for (size_t i = 0; i < front->n; i++)
        end = fmax(end, ehvi_reach(m, pareto_values(front, i), reference,
                                   ehvi->direction));
    ehvi->corners = ht_xcalloc(PIECES * (m + 1), sizeof *ehvi->corners);
    for (size_t i = 0; i < PIECES; i++) {
        double *corner = ehvi->corners + ehvi->n_corners++ * (m + 1);
        const double from = end + pieces[i], to = end + pieces[i + 1];
        for (size_t k = 0; k < m; k++)
            corner[k] = reference[k] + ehvi->direction[k] * (from + to) / 2;
        corner[m] = log(pow(to, (double)m) - pow(from, (double)m));
    }
}

/* ---- life ---- */

static void make_room(struct ehvi *ehvi)
{
    size_t factors = 0;
    for (size_t k = 0; k < ehvi->boxes.m; k++) {
        ehvi->first[k] = factors;
        factors += ehvi->boxes.n_edges[k] + 1;
    }
    ehvi->excess = ht_xcalloc(factors + 1, sizeof *ehvi->excess);
    ehvi->terms =
        ht_xcalloc(ehvi->boxes.n + ehvi->n_corners + 1, sizeof *ehvi->terms);
}

/* Exact where that is cheap; but of two objectives only every other time, since
 * the same corner of a front can seem to gain most again and again. */
static bool is_cut(size_t m, const struct rng_place *place)
{
    return m < MOST_CUT || (m == MOST_CUT && place->ordinal % 2 == 0);
}

void ehvi_init(struct ehvi *ehvi, const struct pareto *front,
               const double reference[], const struct rng_place *place)
{
    *ehvi = (struct ehvi){.m = front->m};
    if (!is_cut(front->m, place) ||
        !hypervolume_boxes_init(&ehvi->boxes, front, reference, MOST_BOXES)) {
        hypervolume_boxes_fini(&ehvi->boxes);
        ehvi->boxes = (struct boxes){.m = 0};
        cast_ray(ehvi, front, reference, place);
    }
    make_room(ehvi);
}

void ehvi_fini(struct ehvi *ehvi)
{
    hypervolume_boxes_fini(&ehvi->boxes);
    free(ehvi->corners);
    free(ehvi->excess);
    free(ehvi->terms);
}

/* ---- factors of a product ---- */

/* ln(1 - e^a) for a <= 0, in the form that does not cancel. */
static double log_complement(double a)
{
    return a > -M_LN2 ? log(-expm1(a)) : log1p(-exp(a));
}

/* What an objective is expected to be above each edge; nothing without end. */
static void find_excess(const struct ehvi *ehvi, const double mean[],
                        const double variance[])
{
    for (size_t k = 0; k < ehvi->boxes.m; k++) {
        struct ehvi_factor *at = ehvi->excess + ehvi->first[k];
        const size_t n = ehvi->boxes.n_edges[k];
        for (size_t e = 0; e < n; e++)
            at[e].log =
                normal_log_excess(mean[k], variance[k], ehvi->boxes.edges[k][e],
                                  &at[e].by_mean, &at[e].by_variance);
        at[n] = (struct ehvi_factor){.log = -INFINITY};
    }
}

static double box_log(const struct ehvi *ehvi, const struct box *box)
{
    double sum = 0;
    for (size_t k = 0; k < ehvi->m; k++) {
        const struct ehvi_factor *at = ehvi->excess + ehvi->first[k];
        const double low = at[box->low[k]].log, high = at[box->high[k]].log;
        sum += low + log_complement(fmin(high - low, 0));
    }
    return sum;
}

/* One objective's factor of a box, with slopes. */
static struct ehvi_factor box_factor(const struct ehvi *ehvi,
                                     const struct box *box, size_t k)
{
    const struct ehvi_factor *at = ehvi->excess + ehvi->first[k];
    const struct ehvi_factor low = at[box->low[k]], high = at[box->high[k]];
    const double rest = exp(high.log - low.log);
    const double share = -expm1(high.log - low.log);
    return (struct ehvi_factor){
        .by_mean = (low.by_mean - rest * high.by_mean) / share,
        .by_variance = (low.by_variance - rest * high.by_variance) / share};
}

/* The chance that objective k reaches a corner. */
static struct ehvi_factor corner_factor(const double corner[], size_t k,
                                        const double mean[],
                                        const double variance[])
{
    double slope;
    const double s = sqrt(variance[k]), z = (mean[k] - corner[k]) / s;
    const double log = normal_log_cdf(z, &slope);
    return (struct ehvi_factor){log, slope / s, -0.5 * slope * z / variance[k]};
}

/* ---- their sum ---- */

static const double *corner_at(const struct ehvi *ehvi, size_t i)
{
    return ehvi->corners + i * (ehvi->m + 1);
}

static void find_terms(const struct ehvi *ehvi, const double mean[],
                       const double variance[])
{
    find_excess(ehvi, mean, variance);
    for (size_t i = 0; i < ehvi->boxes.n; i++)
        ehvi->terms[i] = box_log(ehvi, &ehvi->boxes.items[i]);
    for (size_t i = 0; i < ehvi->n_corners; i++) {
        const double *corner = corner_at(ehvi, i);
        ehvi->terms[i] = corner[ehvi->m];
        for (size_t k = 0; k < ehvi->m; k++)
            ehvi->terms[i] += corner_factor(corner, k, mean, variance).log;
    }
}

static double log_of_sum(size_t n, const double terms[])
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, terms[i]);
    for (size_t i = 0; i < n; i++)
        sum += exp(terms[i] - most);
    return most + log(sum);
}

/* The slopes of a sum's logarithm: those of its terms, by their shares. */
static void find_slopes(const struct ehvi *ehvi, double total,
                        const double mean[], const double variance[],
                        double by_mean[], double by_variance[])
{
    for (size_t k = 0; k < ehvi->m; k++) {
        by_mean[k] = by_variance[k] = 0;
        for (size_t i = 0; i < ehvi->boxes.n + ehvi->n_corners; i++) {
            const double share = exp(ehvi->terms[i] - total);
            if (share == 0)
                continue;
            const struct ehvi_factor factor =
                ehvi->boxes.n > 0
                    ? box_factor(ehvi, &ehvi->boxes.items[i], k)
                    : corner_factor(corner_at(ehvi, i), k, mean, variance);
            by_mean[k] += share * factor.by_mean;
            by_variance[k] += share * factor.by_variance;
        }
    }
}

double ehvi_log(const struct ehvi *ehvi, const double mean[],
                const double variance[], double by_mean[], double by_variance[])
{
    find_terms(ehvi, mean, variance);
    const double total =
        log_of_sum(ehvi->boxes.n + ehvi->n_corners, ehvi->terms);
    if (by_mean != NULL)
        find_slopes(ehvi, total, mean, variance, by_mean, by_variance);
    return total;
}
