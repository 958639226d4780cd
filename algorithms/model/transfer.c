#include "algorithms/model/transfer.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/model/goal_model.h"
#include "algorithms/model/gp.h"
#include "algorithms/model/history.h"
#include "proto/base/arena.h"

/* One earlier study. */
struct layer {
    bool shared[HT_MAX_PARAMETERS]; /* by coordinate */
    struct history history;
    struct gp *models[SETTING_METRICS];          /* owned; NULL: no model */
    struct gp_base bases[SETTING_METRICS];       /* they, for the next */
    const struct gp_base *tops[SETTING_METRICS]; /* they, or those below */
};

struct transfer {
    const struct encoding *encoding;
    size_t n_goals, n;
    struct layer *layers;
};

/* ---- the stack ---- */

static size_t results_of(const struct layer *layer)
{
    return history_feasible(&layer->history, layer->history.n);
}

static void stand_on(struct history *history, size_t n_goals,
                     const struct layer *below)
{
    for (size_t goal = 0; goal < n_goals; goal++)
        history->bases[goal] = below->tops[goal];
}

static void read_results(struct layer *layer, const struct prior_study *prior,
                         const struct encoding *encoding)
{
    for (size_t c = 0; c < encoding->dim; c++)
        layer->shared[c] = prior->shared[encoding->at[c].param];
    layer->history.shared = layer->shared;
    for (size_t i = 0; i < prior->n; i++)
        history_add(&layer->history, &prior->results[i]);
}

/* The first model of the goal, the caller's. */
static struct gp *fit_goal(const struct history *history, size_t goal,
                           uint64_t seed)
{
    struct goal_model model;
    struct goal_hyper hyper;
    goal_model_hyper_init(&hyper, goal, NOISE_UNKNOWN);
    goal_model_init(&model, history, &hyper, seed, 0);
    struct gp *first = model.models[0];
    model.models[0] = NULL;
    goal_model_fini(&model);
    return first;
}

static void fit(struct layer *layer, size_t n_goals, uint64_t seed)
{
    const struct history *history = &layer->history;
    for (size_t goal = 0; goal < n_goals; goal++) {
        layer->tops[goal] = history->bases[goal];
        if (results_of(layer) > 1)
            layer->models[goal] = fit_goal(history, goal, seed);
        if (layer->models[goal] == NULL)
            continue;
        layer->bases[goal] =
            (struct gp_base){layer->models[goal], layer->shared};
        layer->tops[goal] = &layer->bases[goal];
    }
}

struct transfer *transfer_new(const struct setting *setting,
                              const struct encoding *encoding)
{
    struct transfer *transfer = ht_xcalloc(1, sizeof *transfer);
    *transfer = (struct transfer){.encoding = encoding,
                                  .n_goals = setting->n_goals,
                                  .n = setting->n_priors};
    transfer->layers = ht_xcalloc(transfer->n + 1, sizeof *transfer->layers);
    for (size_t i = 0; i < transfer->n; i++) {
        struct layer *layer = &transfer->layers[i];
        history_init(&layer->history, encoding, transfer->n_goals);
        history_trade(&layer->history, setting);
        if (i > 0)
            stand_on(&layer->history, transfer->n_goals, layer - 1);
        read_results(layer, &setting->priors[i], encoding);
        fit(layer, transfer->n_goals, setting->seed);
    }
    return transfer;
}

void transfer_free(struct transfer *transfer)
{
    if (transfer == NULL)
        return;
    for (size_t i = 0; i < transfer->n; i++) {
        for (size_t goal = 0; goal < transfer->n_goals; goal++)
            gp_free(transfer->layers[i].models[goal]);
        history_fini(&transfer->layers[i].history);
    }
    free(transfer->layers);
    free(transfer);
}

void transfer_support(const struct transfer *transfer, struct history *history)
{
    if (transfer->n > 0)
        stand_on(history, transfer->n_goals,
                 &transfer->layers[transfer->n - 1]);
}

/* ---- where nothing comes out ---- */

bool transfer_has_failures(const struct transfer *transfer)
{
    for (size_t i = 0; i < transfer->n; i++)
        if (results_of(&transfer->layers[i]) < transfer->layers[i].history.n)
            return true;
    return false;
}

void transfer_recall(const struct transfer *transfer, struct history *outcomes)
{
    for (size_t i = 0; i < transfer->n; i++) {
        const struct history *history = &transfer->layers[i].history;
        for (size_t k = 0; k < history->n; k++) {
            const struct observation seen = history_get(history, k);
            history_add(outcomes, &seen);
        }
    }
}

/* ---- where to begin ---- */

size_t transfer_results(const struct transfer *transfer)
{
    size_t n = 0;
    for (size_t i = 0; i < transfer->n; i++)
        n += results_of(&transfer->layers[i]);
    return n;
}

size_t transfer_seeds(const struct transfer *transfer)
{
    size_t n = 0;
    for (size_t i = 0; i < transfer->n && n < TRANSFER_SEEDS; i++)
        n += results_of(&transfer->layers[i]) > 0;
    return n;
}

/* The result with the best objective, the first of equal ones; n: none. */
static size_t best_of(const struct history *history)
{
    size_t best = history->n;
    for (size_t i = 0; i < history->n; i++) {
        const double value = history_value(history, i, 0);
        if (!isnan(value) &&
            (best == history->n || value > history_value(history, best, 0)))
            best = i;
    }
    return best;
}

void transfer_seed(const struct transfer *transfer, size_t i, double x[])
{
    const struct encoding *encoding = transfer->encoding;
    const struct layer *layer = transfer->layers;
    double usual[HT_MAX_PARAMETERS];
    for (;; layer++)
        if (best_of(&layer->history) < layer->history.n && i-- == 0)
            break;
    memcpy(x, layer->history.x + best_of(&layer->history) * encoding->dim,
           encoding->dim * sizeof *x);
    for (size_t c = 0; c < encoding->dim; c++) {
        usual[c] = encoding->at[c].usual;
        if (!layer->shared[c])
            x[c] = usual[c];
    }
    encoding_settle(encoding, usual, x);
}
