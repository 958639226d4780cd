#include "algorithms/model/spacing.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/arena.h"

/* docs/search.md has the measurement. */
static const double share = 0.5;
/* Beyond it exp(-q) changes no logarithm. */
static const double far_away = 36;
/* At a pending point itself, so that logarithms stay finite. */
static const double least_factor = 1e-300;

static double nearest_result(const struct gp *gp, const double x[])
{
    double seen[HT_MAX_PARAMETERS], least = INFINITY;
    for (size_t i = 0; i < gp->n_seen; i++) {
        kernel_rows_get(gp->rows, i, seen);
        least = fmin(least,
                     kernel_distance(&gp->kernel, gp->rows->encoding, seen, x));
    }
    return least;
}

void spacing_init(struct spacing *spacing, const struct gp *guide)
{
    const size_t dim = guide->rows->encoding->dim;
    const size_t most = guide->rows->n - guide->n_seen;
    *spacing = (struct spacing){.guide = guide};
    spacing->x = ht_xcalloc(most * dim + 1, sizeof *spacing->x);
    spacing->wide = ht_xcalloc(most + 1, sizeof *spacing->wide);
    for (size_t i = guide->n_seen; i < guide->rows->n; i++) {
        double *x = spacing->x + spacing->n * dim;
        kernel_rows_get(guide->rows, i, x);
        const double apart = share * nearest_result(guide, x);
        spacing->wide[spacing->n] = 2 * apart * apart;
        /* One that is measured again keeps nothing away. */
        if (spacing->wide[spacing->n] > 0)
            spacing->n++;
    }
}

void spacing_fini(struct spacing *spacing)
{
    free(spacing->x);
    free(spacing->wide);
}

static void add_slopes(const struct spacing *spacing, const double pending[],
                       const double x[], double factor, double gradient[])
{
    const struct encoding *encoding = spacing->guide->rows->encoding;
    for (size_t c = 0; c < encoding->dim; c++)
        if (encoding->at[c].kind == COORDINATE_CONTINUOUS &&
            x[c] != COORDINATE_ABSENT && pending[c] != COORDINATE_ABSENT)
            gradient[c] += factor * 2 * spacing->guide->kernel.weight[c] *
                           (x[c] - pending[c]);
}

double spacing_log(const struct spacing *spacing, const double x[],
                   double gradient[])
{
    const struct gp *guide = spacing->guide;
    double sum = 0;
    for (size_t i = 0; i < spacing->n; i++) {
        const struct encoding *encoding = guide->rows->encoding;
        const double *pending = spacing->x + i * encoding->dim;
        const double d = kernel_distance(&guide->kernel, encoding, pending, x);
        const double q = d * d / spacing->wide[i];
        if (q > far_away)
            continue;
        const double left = fmax(-expm1(-q), least_factor);
        sum += log(left);
        if (gradient != NULL)
            add_slopes(spacing, pending, x, exp(-q) / left / spacing->wide[i],
                       gradient);
    }
    return sum;
}
