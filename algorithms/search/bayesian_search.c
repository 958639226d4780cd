/* bayesian_search.c - a Gaussian process of each goal, and the point with the
 * largest acquisition.
 *
 * A suggestion is a function of the space, the seed, the results in their
 * order, what is pending, the part asked for and the ordinal; what the state
 * holds besides the results are hyperparameters found before, which would be
 * found again. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "algorithms/model/acquisition.h"
#include "algorithms/model/belief.h"
#include "algorithms/model/goal_model.h"
#include "algorithms/model/history.h"
#include "algorithms/model/transfer.h"
#include "algorithms/search/acquire.h"
#include "algorithms/search/portfolio.h"
#include "algorithms/search/repeat.h"
#include "algorithms/space/candidates.h"
#include "algorithms/space/untried.h"
#include "proto/base/arena.h"
#include "proto/base/limits.h"

enum {
    MODEL_PENDING = 200, /* pending points that are believed, the newest */
    LEAST_FEASIBLE = 2,  /* objectives to tell good from bad by */
    DESIGN_TRIES = 16    /* design points passed over when taken */
};

struct bayesian {
    struct setting setting;
    struct encoding encoding;
    struct history history;
    struct history outcomes;   /* of the history, where earlier trials failed */
    struct transfer *transfer; /* owned */
    struct belief_hyper hyper;
};

/* ---- why a point was chosen, for people to read ---- */

/* Of the variance far from all results: with less left, a point is known. */
static const double known_share = 0.25;

static void find_nearest(const struct history *history,
                         const struct kernel *kernel, const double x[],
                         struct reason *reason)
{
    const size_t dim = history->encoding->dim;
    reason->distance = INFINITY;
    for (size_t i = 0; i < history->n; i++) {
        const double distance =
            kernel_distance(kernel, history->encoding, history->x + i * dim, x);
        if (distance < reason->distance) {
            reason->has_nearest = true;
            reason->nearest = i;
            reason->distance = distance;
        }
    }
}

/* Little is open there of the value of any goal. */
static bool is_known(size_t n, const struct goal_model models[],
                     const double x[])
{
    for (size_t k = 0; k < n; k++) {
        double mean, variance;
        goal_model_predict(&models[k], 1, x, &mean, &variance);
        if (variance >= known_share * models[k].models[0]->kernel.signal)
            return false;
    }
    return true;
}

/* The mean alone is beyond the best that is known. */
static bool is_better(const struct acquisition *acquisition, const double x[])
{
    for (size_t i = 0; i < acquisition->n_outlooks; i++) {
        const struct outlook *outlook = &acquisition->outlooks[i];
        double mean[SETTING_METRICS];
        for (size_t k = 0; k < outlook->front.m; k++)
            mean[k] = gp_mean(outlook->models[k], x);
        if (!pareto_has(&outlook->front, mean))
            return true;
    }
    return false;
}

/* Writes what n models (of goals 0, 1, ...) and the acquisition say of the
 * point at coordinates x, and the nearest result in lengths of the first. */
static void explain(const struct history *history, size_t n,
                    const struct goal_model models[],
                    const struct acquisition *acquisition, const double x[],
                    struct reason *reason)
{
    double gradient[HT_MAX_PARAMETERS];
    /* For its mean, or when not enough is open to hope for more than that. */
    const bool exploits = is_known(n, models, x) || is_better(acquisition, x);
    *reason = (struct reason){
        .kind = exploits ? REASON_EXPLOITS : REASON_EXPLORES, .n_predicted = n};
    reason->acquisition = acquisition_value(acquisition, x, gradient);
    for (size_t k = 0; k < n; k++)
        goal_model_quantiles(&models[k], 1, x, &reason->predicted[k]);
    find_nearest(history, &models[0].models[0]->kernel, x, reason);
}

/* ---- the search ---- */

/* No result is known, but what earlier studies tell. */
static void begin(struct bayesian *bayesian)
{
    const struct setting *setting = &bayesian->setting;
    history_init(&bayesian->history, &bayesian->encoding, setting->n_goals);
    history_trade(&bayesian->history, setting);
    transfer_support(bayesian->transfer, &bayesian->history);
    history_init(&bayesian->outcomes, &bayesian->encoding, setting->n_goals);
    if (transfer_has_failures(bayesian->transfer)) {
        transfer_recall(bayesian->transfer, &bayesian->outcomes);
        bayesian->history.outcomes = &bayesian->outcomes;
    }
    belief_hyper_init(&bayesian->hyper, setting->noise);
}

static enum ht_status bayesian_new(const struct setting *setting, void **state,
                                   struct ht_error *err)
{
    if (setting->space->n > HT_MAX_PARAMETERS)
        return ht_fail(err, HT_INVALID,
                       "BAYESIAN_SEARCH: %zu parameters, at most %d",
                       setting->space->n, HT_MAX_PARAMETERS);
    struct bayesian *bayesian = ht_xcalloc(1, sizeof *bayesian);
    bayesian->setting = *setting;
    bayesian->setting.n_priors = 0; /* they are borrowed for this call */
    bayesian->setting.priors = NULL;
    encoding_init(&bayesian->encoding, setting->space);
    bayesian->transfer = transfer_new(setting, &bayesian->encoding);
    begin(bayesian);
    *state = bayesian;
    return HT_OK;
}

static void bayesian_free(void *state)
{
    struct bayesian *bayesian = state;
    if (bayesian == NULL)
        return;
    history_fini(&bayesian->history);
    history_fini(&bayesian->outcomes);
    transfer_free(bayesian->transfer);
    encoding_fini(&bayesian->encoding);
    free(bayesian);
}

static void bayesian_forget(void *state)
{
    struct bayesian *bayesian = state;
    history_fini(&bayesian->history);
    history_fini(&bayesian->outcomes);
    begin(bayesian);
}

static enum ht_status bayesian_observe(void *state,
                                       const struct observation *seen,
                                       struct ht_error *err)
{
    (void)err;
    struct bayesian *bayesian = state;
    history_add(&bayesian->history, seen);
    if (bayesian->history.outcomes != NULL)
        history_add(&bayesian->outcomes, seen);
    return HT_OK;
}

/* ---- before there is a model ---- */

/* First points come until there is something to model. What earlier studies
 * found counts: of first points only one is needed then, which tells whether
 * their best ones are better here, too. */
static bool is_design(const struct bayesian *bayesian,
                      const struct suggest_request *request)
{
    const struct history *history = &bayesian->history;
    const size_t seeds = transfer_seeds(bayesian->transfer);
    const size_t before = transfer_results(bayesian->transfer);
    const size_t created = history->n + request->n_pending;
    return request->ordinal < seeds + (seeds > 0 ? 1 : 0) ||
           created + before < candidates_design_size(&bayesian->encoding,
                                                     request->max_trials) ||
           history_feasible(history, history->n) <
               (before > 0 ? 1 : LEAST_FEASIBLE);
}

/* A row of the part that is asked for, or of the whole space where another
 * study found it. */
static bool find_first(const struct bayesian *bayesian,
                       const struct suggest_request *request, uint64_t index,
                       double x[], enum reason_kind *kind)
{
    const struct encoding within =
        encoding_within(&bayesian->encoding, request->within);
    const size_t seeds = transfer_seeds(bayesian->transfer);
    *kind = index < seeds ? REASON_SEED : REASON_DESIGN;
    if (*kind == REASON_DESIGN)
        return candidates_design_point(&within, request->constraints,
                                       bayesian->setting.seed, index - seeds,
                                       x);
    transfer_seed(bayesian->transfer, (size_t)index, x);
    return true;
}

/* What earlier studies tell of where nothing comes out, the caller's; NULL:
 * nothing, then first points go anywhere. */
static struct gp *earlier_chance(struct bayesian *bayesian)
{
    return bayesian->history.outcomes == NULL
               ? NULL
               : goal_model_target(&bayesian->outcomes,
                                   &bayesian->hyper.feasibility,
                                   bayesian->setting.seed);
}

/* The first free point from which something may come out, or the first free
 * one. */
static bool find_design(struct bayesian *bayesian,
                        const struct suggest_request *request,
                        struct value point[], struct reason *reason)
{
    const struct encoding within =
        encoding_within(&bayesian->encoding, request->within);
    struct gp *chance = earlier_chance(bayesian);
    struct value free_one[HT_MAX_PARAMETERS];
    enum reason_kind kind;
    double x[HT_MAX_PARAMETERS];
    bool found = false, hopeful = false;
    for (uint64_t i = 0; i < DESIGN_TRIES && !hopeful; i++) {
        if (!find_first(bayesian, request, request->ordinal + i * DESIGN_TRIES,
                        x, &kind))
            continue;
        encoding_decode(&within, x, free_one);
        if (!algorithm_request_allows(request, free_one))
            continue;
        hopeful = chance == NULL || gp_mean(chance, x) >= 0;
        if (found && !hopeful)
            continue;
        found = true;
        reason->kind = kind;
        memcpy(point, free_one, within.space->n * sizeof *point);
    }
    gp_free(chance);
    return found;
}

/* ---- the suggestion ---- */

/* Pending points count as come out as the models predict. */
static void believe(const struct encoding *encoding,
                    const struct suggest_request *request, size_t newest,
                    struct belief *belief)
{
    double x[HT_MAX_PARAMETERS];
    for (size_t i = request->n_pending - newest; i < request->n_pending; i++) {
        const struct value *point = request->pending[i];
        encoding_encode(encoding, point, x);
        belief_add(belief, x,
                   !space_has(encoding->space, point) ||
                       !constraint_set_holds(request->constraints, point));
    }
}

/* Lets the family whose turn it is find a point. Of several goals there is
 * only one. */
static bool find_by_turn(const struct acquire *acquire,
                         const struct belief *belief, struct value point[],
                         double *promise)
{
    const struct portfolio portfolio = {
        .family = belief->n == 1
                      ? portfolio_family(belief->history, &belief->goals[0],
                                         acquire->request->ordinal)
                      : FAMILY_PROCESS,
        .gp = belief->goals[0].models[0],
        .acquisition = acquire->acquisition,
        .start = &acquire->candidates,
        .request = acquire->request};
    return portfolio.family != FAMILY_PROCESS &&
           portfolio_point(&portfolio, point, promise);
}

/* A tried point to measure again. */
static bool find_repeat(const struct bayesian *bayesian,
                        const struct suggest_request *request,
                        const struct belief *belief, struct value point[],
                        struct reason *reason)
{
    const size_t width = bayesian->setting.space->n;
    size_t result;
    if (!repeat_is_due(belief, request) ||
        !repeat_find(belief, request, &result))
        return false;
    memcpy(point, bayesian->history.points + result * width,
           width * sizeof *point);
    *reason = (struct reason){.kind = REASON_REPEATS,
                              .n_predicted = 1,
                              .acquisition = NAN,
                              .has_nearest = true,
                              .nearest = result};
    goal_model_quantiles(&belief->goals[0], 1,
                         bayesian->history.x + result * bayesian->encoding.dim,
                         &reason->predicted[0]);
    return true;
}

/* The point that promises most by what is believed. */
static bool most_promising(const struct bayesian *bayesian,
                           const struct suggest_request *request,
                           const struct belief *belief, struct value point[],
                           struct reason *reason)
{
    const uint64_t seed = bayesian->setting.seed, ordinal = request->ordinal;
    const struct rng_place rays = {seed, ordinal, RNG_RAYS};
    const struct rng_place trade = {seed, ordinal, RNG_TRADE};
    const struct encoding within =
        encoding_within(&bayesian->encoding, request->within);
    struct acquisition acquisition;
    double fill[HT_MAX_PARAMETERS], x[HT_MAX_PARAMETERS], promise;
    belief_promise(belief, &within, &rays, &acquisition);
    struct acquire acquire = {
        .acquisition = &acquisition,
        .request = request,
        .candidates = {.encoding = &within,
                       .seed = seed,
                       .ordinal = ordinal,
                       .fill = fill,
                       .constraints = request->constraints}};
    belief_known(belief, &trade, &acquire.candidates, fill);
    const bool by_turn = find_by_turn(&acquire, belief, point, &promise);
    const bool found = by_turn || acquire_point(&acquire, point);
    if (found) {
        encoding_encode(&bayesian->encoding, point, x);
        explain(&bayesian->history, belief->n, belief->goals, &acquisition, x,
                reason);
    }
    if (by_turn)
        reason->acquisition = promise;
    acquisition_fini(&acquisition);
    return found;
}

/* Earlier studies turned out to be of another kind of task: first points are
 * caught up on, for those that they led to lie together. */
static bool is_misled(const struct bayesian *bayesian,
                      const struct suggest_request *request,
                      const struct belief *belief)
{
    const size_t created = bayesian->history.n + request->n_pending;
    const size_t first =
        candidates_design_size(&bayesian->encoding, request->max_trials);
    return bayesian->history.bases[0] != NULL &&
           !goal_model_has_base(&belief->goals[0]) &&
           created < first + TRANSFER_SEEDS;
}

static bool find_promising(struct bayesian *bayesian,
                           const struct suggest_request *request,
                           struct value point[], struct reason *reason)
{
    const size_t pending =
        request->n_pending < MODEL_PENDING ? request->n_pending : MODEL_PENDING;
    struct belief belief;
    history_constrain(&bayesian->history, request->constraints);
    bool found = belief_init(&belief, &bayesian->setting, &bayesian->history,
                             &bayesian->hyper, pending);
    if (found && is_misled(bayesian, request, &belief)) {
        found = find_design(bayesian, request, point, reason);
    } else if (found) {
        believe(&bayesian->encoding, request, pending, &belief);
        found = find_repeat(bayesian, request, &belief, point, reason) ||
                most_promising(bayesian, request, &belief, point, reason);
    }
    belief_fini(&belief);
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
    *reason = (struct reason){.kind = REASON_DRAWN, .acquisition = NAN};
    const bool has = bayesian->encoding.dim > 0 &&
                     (is_design(bayesian, request)
                          ? find_design(bayesian, request, found, reason)
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
    .forget = bayesian_forget,
    .suggest = bayesian_suggest,
    .free = bayesian_free,
};
