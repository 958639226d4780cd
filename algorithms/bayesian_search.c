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
#include "algorithms/history.h"
#include "algorithms/hyper.h"
#include "algorithms/untried.h"
#include "proto/arena.h"
#include "proto/limits.h"

enum {
    MODEL_ROWS = 600,    /* results of a model (history.h) */
    MODEL_PENDING = 200, /* pending points it believes, the newest */
    LEAST_FEASIBLE = 2,  /* objectives to tell good from bad by */
    DESIGN_TRIES = 16,   /* design points passed over when taken */
    CALM_TRIES = 5       /* more noise each, for a covariance to factor */
};

struct bayesian {
    const struct space *space; /* borrowed */
    uint64_t seed;
    struct encoding encoding;
    struct history history;
    struct hyper hyper[ACQUISITION_MODELS]; /* by prior */
    struct hyper feasibility;
};

static enum ht_status bayesian_new(const struct space *space, uint64_t seed,
                                   void **state, struct ht_error *err)
{
    if (space->n > HT_MAX_PARAMETERS)
        return ht_fail(err, HT_INVALID,
                       "BAYESIAN_SEARCH: %zu parameters, at most %d", space->n,
                       HT_MAX_PARAMETERS);
    struct bayesian *bayesian = ht_xcalloc(1, sizeof *bayesian);
    bayesian->space = space;
    bayesian->seed = seed;
    encoding_init(&bayesian->encoding, space);
    history_init(&bayesian->history, &bayesian->encoding);
    bayesian->hyper[PRIOR_LONG].prior = PRIOR_LONG;
    bayesian->hyper[PRIOR_UNIT].prior = PRIOR_UNIT;
    bayesian->feasibility =
        (struct hyper){.target = TARGET_FEASIBILITY, .prior = PRIOR_UNIT};
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
                          bayesian->seed, request->ordinal + i * DESIGN_TRIES,
                          x))
            continue;
        encoding_decode(&bayesian->encoding, x, point);
        if (request_allows(request, point))
            return true;
    }
    return false;
}

/* ---- the models ---- */

/* Conditions with a little more noise, should rounding ask for it. */
static bool condition(struct gp *gp, double theta[])
{
    const size_t noise = gp->rows->encoding->dim + 1;
    for (int i = 0; i < CALM_TRIES; i++) {
        if (gp_condition(gp, theta))
            return true;
        theta[noise] += log(10);
    }
    return false;
}

static double best_mean(const struct gp *gp)
{
    double x[HT_MAX_PARAMETERS], best = -INFINITY;
    for (size_t i = 0; i < gp->rows->n; i++) {
        rows_get(gp->rows, i, x);
        best = fmax(best, gp_mean(gp, x));
    }
    return best;
}

static void believe(struct gp *gp, const struct suggest_request *request)
{
    double x[HT_MAX_PARAMETERS];
    size_t i = request->n_pending < MODEL_PENDING
                   ? 0
                   : request->n_pending - MODEL_PENDING;
    for (; i < request->n_pending; i++) {
        encoding_encode(gp->rows->encoding, request->pending[i], x);
        gp_believe(gp, x);
    }
}

/* One failure among successes may be chance: it must not stand as certain. */
static const double least_label_noise = 0.1;

/* The model of all results with room for `extra` points; NULL when none
 * factored. */
static struct gp *new_model(struct bayesian *bayesian, struct hyper *hyper,
                            size_t extra)
{
    const struct history *history = &bayesian->history;
    double theta[HYPER_MAX];
    if (!hyper_find(hyper, history, history->n, bayesian->seed, theta))
        return NULL;
    double *noise = &theta[bayesian->encoding.dim + 1];
    if (hyper->target == TARGET_FEASIBILITY)
        *noise = fmax(*noise, log(least_label_noise));
    struct gp *gp = history_model(history, hyper->target, history->n,
                                  MODEL_ROWS, extra, false);
    if (condition(gp, theta))
        return gp;
    gp_free(gp);
    return NULL;
}

static void add_model(struct bayesian *bayesian, enum prior prior,
                      const struct suggest_request *request,
                      struct acquisition *acquisition)
{
    const size_t pending =
        request->n_pending < MODEL_PENDING ? request->n_pending : MODEL_PENDING;
    struct gp *gp = new_model(bayesian, &bayesian->hyper[prior], pending);
    if (gp == NULL)
        return;
    believe(gp, request);
    acquisition->incumbents[acquisition->n] = best_mean(gp);
    acquisition->models[acquisition->n++] = gp;
}

/* Both priors while data are few, which is when they differ most; later the
 * one that assumes less. */
static void add_models(struct bayesian *bayesian,
                       const struct suggest_request *request,
                       struct acquisition *acquisition)
{
    add_model(bayesian, PRIOR_LONG, request, acquisition);
    if (bayesian->history.n <= 6 * bayesian->encoding.dim)
        add_model(bayesian, PRIOR_UNIT, request, acquisition);
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

static bool find_promising(struct bayesian *bayesian,
                           const struct suggest_request *request,
                           struct value point[])
{
    struct acquisition acquisition = {0};
    double fill[HT_MAX_PARAMETERS];
    add_models(bayesian, request, &acquisition);
    if (acquisition.n == 0)
        return false;
    struct gp *feasibility = NULL;
    const struct history *history = &bayesian->history;
    if (history_feasible(history, history->n) < history->n)
        feasibility = new_model(bayesian, &bayesian->feasibility, 0);
    acquisition.feasibility = feasibility;
    struct acquire acquire = {
        .acquisition = &acquisition,
        .request = request,
        .candidates = {.encoding = &bayesian->encoding,
                       .seed = bayesian->seed,
                       .ordinal = request->ordinal,
                       .fill = fill,
                       .constraints = request->constraints}};
    list_known(acquisition.models[0], &acquire.candidates, fill);
    const bool found = acquire_point(&acquire, point);
    for (size_t k = 0; k < acquisition.n; k++)
        gp_free(acquisition.models[k]);
    gp_free(feasibility);
    return found;
}

static enum ht_status bayesian_suggest(void *state,
                                       const struct suggest_request *request,
                                       struct value point[],
                                       struct ht_error *err)
{
    struct bayesian *bayesian = state;
    struct value found[HT_MAX_PARAMETERS];
    const bool has = bayesian->encoding.dim > 0 &&
                     (is_design(bayesian, request)
                          ? find_design(bayesian, request, found)
                          : find_promising(bayesian, request, found));
    if (!has)
        return untried_draw(bayesian->space, bayesian->seed, request, point,
                            err);
    memcpy(point, found, bayesian->space->n * sizeof *point);
    return HT_OK;
}

const struct algorithm bayesian_search = {
    .name = "BAYESIAN_SEARCH",
    .new = bayesian_new,
    .observe = bayesian_observe,
    .suggest = bayesian_suggest,
    .free = bayesian_free,
};
