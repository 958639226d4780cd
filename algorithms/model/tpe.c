#include "algorithms/model/tpe.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/base/order.h"
#include "algorithms/model/parzen.h"
#include "algorithms/space/inside.h"
#include "proto/base/arena.h"

enum { MOST_GOOD = 25 };

static const double good_share = 0.1; /* of the results */

/* ---- which results are good ---- */

/* Points from the best to the worst, the older of equals first, pending ones
 * at the end. */
static const double **rank_points(const struct sample *sample)
{
    struct ranked *ranked = ht_xcalloc(sample->n, sizeof *ranked);
    const double **points = ht_xcalloc(sample->n, sizeof *points);
    for (size_t i = 0; i < sample->n; i++)
        ranked[i] =
            (struct ranked){i < sample->n_seen ? sample->y[i] : -INFINITY, i};
    order_ranked(sample->n, ranked);
    for (size_t i = 0; i < sample->n; i++)
        points[i] = sample_row(sample, ranked[i].at);
    free(ranked);
    return points;
}

static size_t count_good(const struct sample *sample)
{
    const size_t n = (size_t)ceil(good_share * (double)sample->n_seen);
    return n < MOST_GOOD ? n : MOST_GOOD;
}

/* ---- the candidates ---- */

static size_t draw_candidates(const struct parzen *good,
                              const struct candidates *start, double x[])
{
    const struct encoding *encoding = start->encoding;
    const struct inside inside = {encoding, start->constraints, start->fill};
    struct rng_place place = {start->seed, start->ordinal, RNG_DENSE};
    size_t n = 0;
    for (size_t j = 0; j < TPE_CANDIDATES; j++, place.draw++) {
        const struct rng_place way = {start->seed, start->ordinal,
                                      place.draw + TPE_CANDIDATES};
        double *row = x + n * encoding->dim;
        parzen_draw(good, &place, row);
        encoding_settle(encoding, start->fill, row);
        n += inside_reach(&inside, &way, row) ? 1 : 0;
    }
    return n;
}

size_t tpe_candidates(const struct sample *sample,
                      const struct candidates *start, double x[],
                      double likeness[])
{
    const struct encoding *encoding = sample->encoding;
    const double **points = rank_points(sample);
    const size_t n_good = count_good(sample);
    struct parzen good, others;
    parzen_init(&good, encoding, n_good, points);
    parzen_init(&others, encoding, sample->n - n_good, points + n_good);
    const size_t n = draw_candidates(&good, start, x);
    for (size_t j = 0; j < n; j++) {
        const double *row = x + j * encoding->dim;
        likeness[j] =
            parzen_log_density(&good, row) - parzen_log_density(&others, row);
    }
    parzen_fini(&good);
    parzen_fini(&others);
    free(points);
    return n;
}
