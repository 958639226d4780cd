#include "algorithms/insight/gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/order.h"
#include "algorithms/model/gp.h"
#include "algorithms/space/candidates.h"
#include "proto/base/arena.h"

enum {
    ROUNDS = 4, /* of steps away from the best that were found */
    NODES = 33  /* of an integral over a normal distribution, */
};

static const double reach = 4; /* deviations to both sides */

struct search {
    const struct goal_model *model;
    struct candidates *candidates;
    double bound[GOAL_MODELS];       /* the best mean that each model knows */
    double bound_value[GOAL_MODELS]; /* in the units of the goal */
    double *x, *mean, *variance, *gain;
    struct ranked *order;
};

/* ---- the gain of one point ---- */

/* E[max(value - bound, 0)] of a normal place on the model's scale. */
static double expect(const struct warping *warping, double mean, double s,
                     double bound, double bound_value)
{
    double sum = 0, weights = 0;
    for (int i = 0; i < NODES; i++) {
        const double z = reach * (2.0 * i / (NODES - 1) - 1);
        const double weight = exp(-z * z / 2), place = mean + s * z;
        weights += weight;
        if (place > bound)
            sum += weight * (warp_undo(warping, place) - bound_value);
    }
    return sum / weights;
}

/* Of m rows at x, under each prior in turn. */
static void weigh(const struct search *search, size_t m)
{
    const struct goal_model *model = search->model;
    memset(search->gain, 0, m * sizeof *search->gain);
    for (size_t k = 0; k < model->n; k++) {
        gp_predict(model->models[k], m, search->x, search->mean,
                   search->variance);
        for (size_t j = 0; j < m; j++)
            search->gain[j] +=
                expect(&model->warping, search->mean[j],
                       sqrt(fmax(search->variance[j], 0)), search->bound[k],
                       search->bound_value[k]) /
                (double)model->n;
    }
}

/* ---- where it is largest ---- */

/* Points of today's space only; false when there is none. */
static bool find_bounds(struct search *search, const struct history *history)
{
    for (size_t k = 0; k < search->model->n; k++) {
        double best = -INFINITY;
        for (size_t i = 0; i < history->n; i++)
            if (!history->outside[i])
                best = fmax(best,
                            gp_mean(search->model->models[k],
                                    history->x + i * history->encoding->dim));
        search->bound[k] = best;
        search->bound_value[k] = warp_undo(&search->model->warping, best);
        if (isinf(best))
            return false;
    }
    return true;
}

/* The next round steps from those of the m candidates that gain most. */
static double keep_best(const struct search *search, size_t m)
{
    struct candidates *candidates = search->candidates;
    const size_t dim = candidates->encoding->dim;
    for (size_t j = 0; j < m; j++)
        search->order[j] = (struct ranked){search->gain[j], j};
    order_ranked(m, search->order);
    candidates->n_known = m < CANDIDATES_KNOWN ? m : CANDIDATES_KNOWN;
    for (size_t j = 0; j < candidates->n_known; j++)
        memcpy(candidates->known[j], search->x + search->order[j].at * dim,
               dim * sizeof *search->x);
    return m > 0 ? search->order[0].value : 0;
}

/* The first round steps from the best results. */
static void start(const struct history *history, struct candidates *candidates)
{
    const size_t dim = history->encoding->dim;
    struct ranked *order = ht_xcalloc(history->n + 1, sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < history->n; i++)
        if (!history->outside[i] && !isnan(history_value(history, i, 0)))
            order[n++] = (struct ranked){history_value(history, i, 0), i};
    order_ranked(n, order);
    for (; candidates->n_known < n && candidates->n_known < CANDIDATES_KNOWN;
         candidates->n_known++)
        memcpy(candidates->known[candidates->n_known],
               history->x + order[candidates->n_known].at * dim,
               dim * sizeof *history->x);
    free(order);
}

double gain_most(const struct history *history, const struct goal_model *model,
                 const struct constraint_set *constraints, uint64_t seed)
{
    const struct encoding *encoding = history->encoding;
    double fill[HT_MAX_PARAMETERS], most = 0;
    struct candidates candidates = {.encoding = encoding,
                                    .seed = seed,
                                    .fill = fill,
                                    .constraints = constraints};
    struct search search = {.model = model, .candidates = &candidates};
    if (!find_bounds(&search, history))
        return NAN;
    for (size_t c = 0; c < encoding->dim; c++)
        fill[c] = encoding->at[c].usual;
    search.x = ht_xcalloc(CANDIDATES_MAX * (encoding->dim + 3), sizeof(double));
    search.mean = search.x + CANDIDATES_MAX * encoding->dim;
    search.variance = search.mean + CANDIDATES_MAX;
    search.gain = search.variance + CANDIDATES_MAX;
    search.order = ht_xcalloc(CANDIDATES_MAX, sizeof *search.order);
    start(history, &candidates);
    for (int round = 0; round < ROUNDS; round++) {
        candidates.ordinal = history->n + (uint64_t)round;
        const size_t m = candidates_fill(&candidates, search.x);
        weigh(&search, m);
        most = fmax(most, keep_best(&search, m));
    }
    free(search.order);
    free(search.x);
    return most;
}
