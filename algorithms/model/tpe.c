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
 * at the end. Densities are of today's space, where points outside have none.
 */
struct ranking {
    size_t n, n_good;
    const double **points; /* owned */
};

static size_t count_good(size_t n_seen)
{
    const size_t n = (size_t)ceil(good_share * (double)n_seen);
    return n < MOST_GOOD ? n : MOST_GOOD;
}

static struct ranking rank_points(const struct sample *sample)
{
    struct ranked *ranked = ht_xcalloc(sample->n, sizeof *ranked);
    struct ranking ranking = {
        .points = ht_xcalloc(sample->n, sizeof *ranking.points)};
    size_t n_seen = 0;
    for (size_t i = 0; i < sample->n; i++) {
        const bool seen = i < sample->n_seen;
        if (sample->outside[i])
            continue;
        n_seen += seen ? 1 : 0;
        ranked[ranking.n++] =
            (struct ranked){seen ? sample->y[i] : -INFINITY, i};
    }
    order_ranked(ranking.n, ranked);
    for (size_t i = 0; i < ranking.n; i++)
        ranking.points[i] = sample_row(sample, ranked[i].at);
    ranking.n_good = count_good(n_seen);
    free(ranked);
    return ranking;
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
    const struct ranking ranking = rank_points(sample);
    struct parzen good, others;
    parzen_init(&good, encoding, ranking.n_good, ranking.points);
    parzen_init(&others, encoding, ranking.n - ranking.n_good,
                ranking.points + ranking.n_good);
    const size_t n = draw_candidates(&good, start, x);
    for (size_t j = 0; j < n; j++) {
        const double *row = x + j * encoding->dim;
        likeness[j] =
            parzen_log_density(&good, row) - parzen_log_density(&others, row);
    }
    parzen_fini(&good);
    parzen_fini(&others);
    free(ranking.points);
    return n;
}
