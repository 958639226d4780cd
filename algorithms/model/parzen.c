#include "algorithms/model/parzen.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "algorithms/base/order.h"
#include "proto/base/arena.h"

/* A kernel is no narrower than the range over the number of kernels, or over
 * this: a few points at one place are no certainty. */
static const double most_narrowings = 100;
static const double tail = 1e-12; /* of a distribution, where draws end */

/* A normal kernel cut off at the ends of [0, 1]. */
struct kernel_at {
    double middle, width;
};

/* That of the range as a whole. */
static const struct kernel_at whole = {0.5, 1};

/* ---- widths ---- */

/* The values of coordinate c where it is present, and the middle of the range,
 * in order. */
static size_t list_values(const struct parzen *parzen, size_t c,
                          double values[])
{
    size_t m = 0;
    values[m++] = whole.middle;
    for (size_t i = 0; i < parzen->n; i++)
        if (parzen->points[i][c] != COORDINATE_ABSENT)
            values[m++] = parzen->points[i][c];
    order_numbers(m, values);
    return m;
}

/* As wide as the larger gap to a neighbour: narrow where points crowd. */
static double width_at(double u, size_t m, const double values[])
{
    const double least = 1 / fmin((double)m, most_narrowings);
    size_t k = 0;
    while (values[k] < u)
        k++;
    const double below = k > 0 ? u - values[k - 1] : 0;
    const double above = k + 1 < m ? values[k + 1] - u : 0;
    return fmin(fmax(fmax(below, above), least), whole.width);
}

static void find_widths(struct parzen *parzen)
{
    const size_t dim = parzen->encoding->dim;
    double *values = ht_xcalloc(parzen->n + 1, sizeof *values);
    for (size_t c = 0; c < dim; c++) {
        if (parzen->encoding->at[c].kind == COORDINATE_CATEGORY)
            continue;
        const size_t m = list_values(parzen, c, values);
        for (size_t i = 0; i < parzen->n; i++)
            parzen->widths[i * dim + c] =
                width_at(parzen->points[i][c], m, values);
    }
    free(values);
}

void parzen_init(struct parzen *parzen, const struct encoding *encoding,
                 size_t n, const double *const points[])
{
    *parzen = (struct parzen){encoding, n, points, NULL};
    parzen->widths = ht_xcalloc(n * encoding->dim + 1, sizeof *parzen->widths);
    find_widths(parzen);
}

void parzen_fini(struct parzen *parzen)
{
    free(parzen->widths);
}

/* ---- densities ---- */

static double normal_below(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

static double share_between(const struct kernel_at *kernel, double low,
                            double high)
{
    return normal_below((high - kernel->middle) / kernel->width) -
           normal_below((low - kernel->middle) / kernel->width);
}

static double kernel_density(const struct coordinate *at,
                             const struct kernel_at *kernel, size_t level,
                             double u)
{
    const double all = share_between(kernel, 0, 1);
    if (at->kind == COORDINATE_CONTINUOUS) {
        const double z = (u - kernel->middle) / kernel->width;
        return exp(-z * z / 2) / (kernel->width * sqrt(2 * M_PI) * all);
    }
    const double *p = at->positions;
    const double low = level == 0 ? 0 : (p[level - 1] + p[level]) / 2;
    const double high =
        level + 1 == at->levels ? 1 : (p[level] + p[level + 1]) / 2;
    return share_between(kernel, low, high) / all;
}

/* Sums the points' kernels at u; returns how many points have a say. */
static size_t add_kernels(const struct parzen *parzen, size_t c, double u,
                          double *sum)
{
    const struct coordinate *at = &parzen->encoding->at[c];
    const size_t dim = parzen->encoding->dim;
    const size_t level = at->kind == COORDINATE_ORDINAL
                             ? encoding_level_of(parzen->encoding, c, u)
                             : 0;
    size_t present = 0;
    *sum = kernel_density(at, &whole, level, u);
    for (size_t i = 0; i < parzen->n; i++) {
        const struct kernel_at kernel = {parzen->points[i][c],
                                         parzen->widths[i * dim + c]};
        if (kernel.middle == COORDINATE_ABSENT)
            continue;
        *sum += kernel_density(at, &kernel, level, u);
        present++;
    }
    return present;
}

/* How often, one more of each category being seen than were. */
static double category_share(const struct parzen *parzen, size_t c, double u)
{
    double same = 1, all = (double)parzen->encoding->at[c].levels;
    for (size_t i = 0; i < parzen->n; i++) {
        const double v = parzen->points[i][c];
        same += v == u ? 1 : 0;
        all += v == COORDINATE_ABSENT ? 0 : 1;
    }
    return same / all;
}

double parzen_log_density(const struct parzen *parzen, const double x[])
{
    double total = 0;
    for (size_t c = 0; c < parzen->encoding->dim; c++) {
        if (x[c] == COORDINATE_ABSENT)
            continue;
        if (parzen->encoding->at[c].kind == COORDINATE_CATEGORY) {
            total += log(category_share(parzen, c, x[c]));
            continue;
        }
        double sum;
        const size_t present = add_kernels(parzen, c, x[c], &sum);
        total += log(sum / (double)(present + 1));
    }
    return total;
}

/* ---- draws ---- */

/* The point whose kernel is drawn from, each with the same chance, or n: what
 * represents the unseen, of weight `unseen`. */
static size_t draw_point(const struct parzen *parzen, size_t c, double unseen,
                         double u)
{
    double present = 0;
    for (size_t i = 0; i < parzen->n; i++)
        present += parzen->points[i][c] == COORDINATE_ABSENT ? 0 : 1;
    double left = floor(u * (present + unseen));
    for (size_t i = 0; i < parzen->n; i++)
        if (parzen->points[i][c] != COORDINATE_ABSENT && left-- < 1)
            return i;
    return parzen->n;
}

static double draw_number(const struct parzen *parzen, size_t c, size_t from,
                          double u)
{
    const size_t dim = parzen->encoding->dim;
    const struct kernel_at kernel =
        from < parzen->n ? (struct kernel_at){parzen->points[from][c],
                                              parzen->widths[from * dim + c]}
                         : whole;
    const double low = normal_below(-kernel.middle / kernel.width);
    const double share = low + u * share_between(&kernel, 0, 1);
    const double z = gsl_cdf_ugaussian_Pinv(fmin(fmax(share, tail), 1 - tail));
    const double drawn = fmin(fmax(kernel.middle + kernel.width * z, 0), 1);
    return parzen->encoding->at[c].kind == COORDINATE_CONTINUOUS
               ? drawn
               : encoding_level(parzen->encoding, c,
                                encoding_level_of(parzen->encoding, c, drawn));
}

void parzen_draw(const struct parzen *parzen, const struct rng_place *place,
                 double x[])
{
    for (size_t c = 0; c < parzen->encoding->dim; c++) {
        const struct coordinate *at = &parzen->encoding->at[c];
        const bool category = at->kind == COORDINATE_CATEGORY;
        const double levels = (double)at->levels;
        const double u = rng_unit(place, 2 * c + 1);
        const size_t from = draw_point(parzen, c, category ? levels : 1,
                                       rng_unit(place, 2 * c));
        if (!category)
            x[c] = draw_number(parzen, c, from, u);
        else
            x[c] =
                from < parzen->n ? parzen->points[from][c] : floor(u * levels);
    }
}
