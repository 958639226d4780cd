/* A Gaussian process of the objective, and the point that promises most.
 *
 * A suggestion is a function of the space, the seed, the results in their
 * order, what is pending and the ordinal; what the state holds besides the
 * results are hyperparameters found before, which would be found again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/acquire.h"
#include "algorithms/algorithm.h"
#include "algorithms/design.h"
#include "algorithms/explain.h"
#include "algorithms/goal_model.h"
#include "algorithms/history.h"
#include "algorithms/untried.h"
#include "proto/arena.h"
#include "proto/limits.h"

enum {
    MODEL_PENDING = 200, /* pending points that are believed, the newest */
    LEAST_FEASIBLE = 2,  /* objectives to tell good from bad by */
    DESIGN_TRIES = 16    /* design points passed over when taken */
};

struct bayesian {
    struct setting setting;
    struct encoding encoding;
    struct history history;
    struct goal_hyper objective;
    struct hyper feasibility;
};

static enum ht_status bayesian_new(const struct setting *setting, void **state,
                                   struct ht_error *err)
{
    if (setting->space->n > HT_MAX_PARAMETERS)
        return ht_fail(err, HT_INVALID,
                       "BAYESIAN_SEARCH: %zu parameters, at most %d",
                       setting->space->n, HT_MAX_PARAMETERS);
    struct bayesian *bayesian = ht_xcalloc(1, sizeof *bayesian);
    bayesian->setting = *setting;
    encoding_init(&bayesian->encoding, setting->space);
    history_init(&bayesian->history, &bayesian->encoding, setting->n_goals);
    goal_hyper_init(&bayesian->objective, 0);
    bayesian->feasibility =
        (struct hyper){.target = {ASPECT_FEASIBILITY, 0}, .prior = PRIOR_UNIT};
    *state = bayesian;
    return HT_OK;
}

static void bayesian_free(void *state)
{
    struct bayesian *bayesian = state;
    if (bayesian == NULL)
        return;
    history_fini(&bayesian->history);
    encoding_fini(&bayesian->encoding);
    free(bayesian);
}

static enum ht_status bayesian_observe(void *state,
                                       const struct observation *seen,
                                       struct ht_error *err)
{
    (void)err;
    struct bayesian *bayesian = state;
    history_add(&bayesian->history, seen);
    return HT_OK;
}

/* ---- before there is a model ---- */

static bool is_design(const struct bayesian *bayesian,
                      const struct suggest_request *request)
{
    const struct history *history = &bayesian->history;
    const size_t created = history->n + request->n_pending;
    return created < design_size(bayesian->encoding.dim, request->max_trials) ||
           history_feasible(history, history->n) < LEAST_FEASIBLE;
}

static bool find_design(const struct bayesian *bayesian,
                        const struct suggest_request *request,
                        struct value point[])
{
    double x[HT_MAX_PARAMETERS];
    for (uint64_t i = 0; i < DESIGN_TRIES; i++) {
        if (!design_point(&bayesian->encoding, request->constraints,
                          bayesian->setting.seed,
                          request->ordinal + i * DESIGN_TRIES, x))
            continue;
        encoding_decode(&bayesian->encoding, x, point);
        if (request_allows(request, point))
            return true;
    }
    return false;
}

/* ---- the suggestion ---- */

struct known { /* a result's place and what the model makes of it */
    double mean;
    size_t order; /* among equal ones */
    double x[HT_MAX_PARAMETERS];
};

static int compare_known(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (x->mean != y->mean)
        return x->mean > y->mean ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The best known points, and for each coordinate the value it had in the best
 * point where it was present. */
static void list_known(const struct gp *gp, struct candidates *candidates,
                       double fill[])
{
    const struct encoding *encoding = gp->rows->encoding;
    const size_t n = gp->n_seen;
    struct known *known = ht_xcalloc(n, sizeof *known);
    for (size_t i = 0; i < n; i++) {
        rows_get(gp->rows, i, known[i].x);
        known[i].mean = gp_mean(gp, known[i].x);
        known[i].order = i;
    }
    qsort(known, n, sizeof *known, compare_known);
    for (size_t i = 0; i < n && i < CANDIDATES_KNOWN; i++)
        memcpy(candidates->known[candidates->n_known++], known[i].x,
               sizeof known[i].x);
    for (size_t c = 0; c < encoding->dim; c++) {
        size_t i = 0;
        while (i < n && known[i].x[c] == COORDINATE_ABSENT)
            i++;
        fill[c] = i < n ? known[i].x[c] : encoding->at[c].usual;
    }
    free(known);
}

/* Pending points count as come out as the models foretell. */
static void believe(const struct encoding *encoding,
                    const struct suggest_request *request, size_t newest,
                    struct goal_model *model)
{
    double x[HT_MAX_PARAMETERS];
    for (size_t i = request->n_pending - newest; i < request->n_pending; i++) {
        encoding_encode(encoding, request->pending[i], x);
        goal_model_believe(model, x);
    }
}

static void promise_of(const struct goal_model *model,
                       const struct gp *feasibility,
                       struct acquisition *acquisition)
{
    *acquisition =
        (struct acquisition){.n = model->n, .feasibility = feasibility};
    for (size_t k = 0; k < model->n; k++) {
        acquisition->models[k] = model->models[k];
        acquisition->incumbents[k] = goal_model_best(model, k);
    }
}

/* The point that promises most by these models. */
static bool most_promising(const struct bayesian *bayesian,
                           const struct suggest_request *request,
                           const struct goal_model *model,
                           const struct gp *feasibility, struct value point[],
                           struct reason *reason)
{
    struct acquisition acquisition;
    double fill[HT_MAX_PARAMETERS], x[HT_MAX_PARAMETERS];
    promise_of(model, feasibility, &acquisition);
    struct acquire acquire = {
        .acquisition = &acquisition,
        .request = request,
        .candidates = {.encoding = &bayesian->encoding,
                       .seed = bayesian->setting.seed,
                       .ordinal = request->ordinal,
                       .fill = fill,
                       .constraints = request->constraints}};
    list_known(model->models[0], &acquire.candidates, fill);
    if (!acquire_point(&acquire, point))
        return false;
    encoding_encode(&bayesian->encoding, point, x);
    explain(&bayesian->history, 1, model, &acquisition, x, reason);
    return true;
}

static bool find_promising(struct bayesian *bayesian,
                           const struct suggest_request *request,
                           struct value point[], struct reason *reason)
{
    const struct history *history = &bayesian->history;
    const uint64_t seed = bayesian->setting.seed;
    const size_t pending =
        request->n_pending < MODEL_PENDING ? request->n_pending : MODEL_PENDING;
    struct goal_model model;
    struct gp *feasibility = NULL;
    bool found =
        goal_model_init(&model, history, &bayesian->objective, seed, pending);
    if (found) {
        believe(&bayesian->encoding, request, pending, &model);
        if (history_feasible(history, history->n) < history->n)
            feasibility =
                feasibility_model(history, &bayesian->feasibility, seed);
        found = most_promising(bayesian, request, &model, feasibility, point,
                               reason);
    }
    gp_free(feasibility);
    goal_model_fini(&model);
    return found;
}

static enum ht_status bayesian_suggest(void *state,
                                       const struct suggest_request *request,
                                       struct value point[],
                                       struct reason *reason,
                                       struct ht_error *err)
{
    struct bayesian *bayesian = state;
    const struct space *space = bayesian->setting.space;
    struct value found[HT_MAX_PARAMETERS];
    const bool designs = is_design(bayesian, request);
    *reason = (struct reason){.kind = designs ? REASON_DESIGN : REASON_DRAWN,
                              .acquisition = NAN};
    const bool has =
        bayesian->encoding.dim > 0 &&
        (designs ? find_design(bayesian, request, found)
                 : find_promising(bayesian, request, found, reason));
    if (!has) {
        reason->kind = REASON_DRAWN;
        return untried_draw(space, bayesian->setting.seed, request, point, err);
    }
    memcpy(point, found, space->n * sizeof *point);
    return HT_OK;
}

const struct algorithm bayesian_search = {
    .name = "BAYESIAN_SEARCH",
    .new = bayesian_new,
    .observe = bayesian_observe,
    .suggest = bayesian_suggest,
    .free = bayesian_free,
};
