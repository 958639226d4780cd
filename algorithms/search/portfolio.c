#include "algorithms/search/portfolio.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/base/normal.h"
#include "algorithms/base/order.h"
#include "algorithms/model/acquisition.h"
#include "algorithms/model/forest.h"
#include "algorithms/model/leave_one_out.h"
#include "algorithms/model/sample.h"
#include "algorithms/model/tpe.h"
#include "proto/base/arena.h"

enum {
    LEAST_RESULTS = 20, /* before they tell which family is right */
    STAGNATION = 6      /* results without a gain that make it one */
};

/* A process that tells results apart as well as this needs no help (docs/
 * search.md has the measurement). */
static const double trusted_ranks = 0.95;
/* Of what the best is better than the median: less is no gain. */
static const double gain_share = 0.01;

/* ---- whose turn it is ---- */

/* The best value less the median. */
static double spread_above(const struct history *history)
{
    double *values = ht_xcalloc(history->n + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < history->n; i++)
        if (!history->outside[i] && !isnan(history_value(history, i, 0)))
            values[n++] = history_value(history, i, 0);
    order_numbers(n, values);
    const double spread = n > 0 ? values[n - 1] - values[n / 2] : 0;
    free(values);
    return spread;
}

size_t portfolio_stagnation(const struct history *history)
{
    const double least = gain_share * spread_above(history);
    double mark = -INFINITY;
    size_t since = 0;
    for (size_t i = 0; i < history->n; i++) {
        const double value = history_value(history, i, 0);
        if (history->outside[i])
            continue;
        since++;
        if (!(value - mark > least))
            continue;
        mark = value;
        since = 0;
    }
    return since;
}

enum family portfolio_family(const struct history *history,
                             const struct goal_model *model, uint64_t ordinal)
{
    if (ordinal % 2 == 0 || history->n < LEAST_RESULTS ||
        portfolio_stagnation(history) < STAGNATION ||
        leave_one_out_ranks(model->models[0]) > trusted_ranks)
        return FAMILY_PROCESS;
    return ordinal % 4 == 1 ? FAMILY_FOREST : FAMILY_PARZEN;
}

/* ---- what it proposes ---- */

struct proposals {
    size_t n;
    double *x, *promise; /* owned */
};

/* The best mean at a point that may be suggested today; what the trees say of
 * all where none is. */
static double best_by_forest(const struct forest *forest,
                             const struct sample *sample)
{
    double mean, variance, inside = -INFINITY, anywhere = -INFINITY;
    for (size_t i = 0; i < sample->n; i++) {
        forest_predict(forest, sample_row(sample, i), &mean, &variance);
        anywhere = fmax(anywhere, mean);
        if (!sample->outside[i])
            inside = fmax(inside, mean);
    }
    return isinf(inside) ? anywhere : inside;
}

/* Expected improvement on the best mean, by the trees. */
static void weigh_by_forest(const struct portfolio *portfolio,
                            const struct sample *sample,
                            struct proposals *proposals)
{
    const size_t dim = sample->encoding->dim;
    const struct candidates *start = portfolio->start;
    const struct rng_place place = {start->seed, start->ordinal, RNG_TREES};
    struct forest *forest = forest_new(sample, &place);
    const double best = best_by_forest(forest, sample);
    double mean, variance, by_mean, by_variance;
    for (size_t j = 0; j < proposals->n; j++) {
        forest_predict(forest, proposals->x + j * dim, &mean, &variance);
        proposals->promise[j] =
            normal_log_excess(mean, variance, best, &by_mean, &by_variance);
    }
    forest_free(forest);
}

/* Whatever family it is, a point promises little where nothing comes out or
 * another is pending. */
static void add_chances(const struct acquisition *acquisition,
                        struct proposals *proposals)
{
    struct acquisition chances = *acquisition;
    double *values = ht_xcalloc(proposals->n + 1, sizeof *values);
    chances.n_outlooks = 0;
    acquisition_values(&chances, proposals->n, proposals->x, values);
    for (size_t j = 0; j < proposals->n; j++)
        proposals->promise[j] += values[j];
    free(values);
}

static void propose(const struct portfolio *portfolio,
                    struct proposals *proposals)
{
    const size_t dim = portfolio->start->encoding->dim;
    struct sample sample;
    proposals->x =
        ht_xcalloc((size_t)CANDIDATES_MAX * dim, sizeof *proposals->x);
    proposals->promise = ht_xcalloc(CANDIDATES_MAX, sizeof *proposals->promise);
    sample_init(&sample, portfolio->gp);
    if (portfolio->family == FAMILY_FOREST) {
        proposals->n = candidates_fill(portfolio->start, proposals->x);
        weigh_by_forest(portfolio, &sample, proposals);
    } else {
        proposals->n = tpe_candidates(&sample, portfolio->start, proposals->x,
                                      proposals->promise);
    }
    sample_fini(&sample);
    add_chances(portfolio->acquisition, proposals);
}

/* ---- the choice ---- */

/* The most promising proposal that the request allows. */
static bool choose(const struct portfolio *portfolio,
                   const struct proposals *proposals, struct value point[],
                   double *promise)
{
    const struct encoding *encoding = portfolio->start->encoding;
    struct ranked *ranked = ht_xcalloc(proposals->n + 1, sizeof *ranked);
    bool found = false;
    for (size_t j = 0; j < proposals->n; j++)
        ranked[j] = (struct ranked){proposals->promise[j], j};
    order_ranked(proposals->n, ranked);
    for (size_t j = 0; j < proposals->n && !found; j++) {
        encoding_decode(encoding, proposals->x + ranked[j].at * encoding->dim,
                        point);
        found = algorithm_request_allows(portfolio->request, point);
        *promise = ranked[j].value;
    }
    free(ranked);
    return found;
}

bool portfolio_point(const struct portfolio *portfolio, struct value point[],
                     double *promise)
{
    struct proposals proposals;
    propose(portfolio, &proposals);
    const bool found = choose(portfolio, &proposals, point, promise);
    free(proposals.x);
    free(proposals.promise);
    return found;
}
