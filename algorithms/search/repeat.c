#include "algorithms/search/repeat.h"

#include <math.h>
#include <string.h>

enum {
    BEST = 10,  /* results that come into question */
    ENOUGH = 20 /* results, for a model to tell noise from what it misses */
};

/* Of the signal's variance: with more noise, two results at a point differ
 * like results at different points. */
static const double large_noise = 0.5;

/* Whether its point may be tried again; a reported one need not satisfy the
 * constraints, one of before a change not be in today's space. */
static bool is_asked_for(const struct history *history, size_t i,
                         const struct suggest_request *request)
{
    const struct value *point =
        history->points + i * history->encoding->space->n;
    return request == NULL ||
           (!history->outside[i] && subspace_has(request->within, point) &&
            constraint_set_holds(request->constraints, point));
}

/* The best results that are asked for (request NULL: of all) by value, best
 * first; what was only predicted of a trial that was stopped is none. Returns
 * how many. */
static size_t list_best(const struct history *history,
                        const struct suggest_request *request, size_t best[])
{
    size_t n = 0;
    for (size_t i = 0; i < history->n; i++) {
        const double value = history_value(history, i, 0);
        size_t at = n;
        while (at > 0 && history_value(history, best[at - 1], 0) < value)
            at--;
        if (isnan(value) || history->variance[i] > 0 || at == BEST ||
            !is_asked_for(history, i, request))
            continue;
        n = n < BEST ? n + 1 : BEST;
        memmove(best + at + 1, best + at, (n - 1 - at) * sizeof *best);
        best[at] = i;
    }
    return n;
}

/* Whether one of these points was measured twice and came out the same: then
 * what the model takes for noise is what it does not understand. */
static bool is_exact(const struct history *history, size_t n,
                     const size_t best[])
{
    const size_t dim = history->encoding->dim;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < history->n; i++)
            if (i != best[k] &&
                history_value(history, i, 0) ==
                    history_value(history, best[k], 0) &&
                memcmp(history->x + i * dim, history->x + best[k] * dim,
                       dim * sizeof *history->x) == 0)
                return true;
    return false;
}

static bool seems_noisy(const struct belief *belief)
{
    const struct history *history = belief->history;
    const struct gp *gp = belief->goals[0].models[0];
    size_t best[BEST];
    return history->n >= ENOUGH &&
           gp->noise > large_noise * gp->kernel.signal &&
           !is_exact(history, list_best(history, NULL, best), best);
}

bool repeat_is_due(const struct belief *belief,
                   const struct suggest_request *request)
{
    return request->may_repeat && belief->n == 1 &&
           (request->ordinal + 1) % REPEAT_EVERY == 0 &&
           (belief->setting->noise == NOISE_HIGH || seems_noisy(belief));
}

static bool is_pending(const struct encoding *encoding,
                       const struct suggest_request *request, const double x[])
{
    double other[HT_MAX_PARAMETERS];
    for (size_t i = 0; i < request->n_pending; i++) {
        encoding_encode(encoding, request->pending[i], other);
        if (memcmp(x, other, encoding->dim * sizeof *x) == 0)
            return true;
    }
    return false;
}

bool repeat_find(const struct belief *belief,
                 const struct suggest_request *request, size_t *result)
{
    const struct history *history = belief->history;
    const size_t dim = history->encoding->dim;
    size_t best[BEST];
    const size_t n = list_best(history, request, best);
    double highest = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        const double *x = history->x + best[k] * dim;
        double mean, variance;
        goal_model_predict(&belief->goals[0], 1, x, &mean, &variance);
        const double hope = mean + sqrt(fmax(variance, 0));
        if (hope <= highest || is_pending(history->encoding, request, x))
            continue;
        highest = hope;
        *result = best[k];
    }
    return highest > -INFINITY;
}
