#include "algorithms/model/belief.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/rng.h"
#include "proto/base/arena.h"

/* The reference is a little below the worst corner of the front, so that its
 * ends count: by this share of the way to the best, and at least by this much.
 */
static const double reference_share = 0.1, reference_least = 0.1;

/* ---- life ---- */

void belief_hyper_init(struct belief_hyper *hyper, enum noise noise)
{
    *hyper = (struct belief_hyper){
        .feasibility = {.target = {.aspect = ASPECT_FEASIBILITY},
                        .prior = PRIOR_UNIT}};
    for (size_t k = 0; k < SETTING_METRICS; k++)
        goal_model_hyper_init(&hyper->goals[k], k, noise);
}

bool belief_init(struct belief *belief, const struct setting *setting,
                 const struct history *history, struct belief_hyper *hyper,
                 size_t extra)
{
    const uint64_t seed = setting->seed;
    bool all = setting->n_goals > 0;
    *belief = (struct belief){.setting = setting, .history = history};
    for (; all && belief->n < setting->n_goals; belief->n++)
        all = goal_model_init(&belief->goals[belief->n], history,
                              &hyper->goals[belief->n], seed, extra);
    const struct history *outcomes = history_outcomes(history);
    if (all && history_feasible(outcomes, outcomes->n) < outcomes->n)
        belief->feasibility =
            goal_model_target(outcomes, &hyper->feasibility, seed);
    return all;
}

void belief_fini(struct belief *belief)
{
    for (size_t k = 0; k < belief->n; k++)
        goal_model_fini(&belief->goals[k]);
    gp_free(belief->feasibility);
}

void belief_add(struct belief *belief, const double x[], bool outside)
{
    for (size_t k = 0; k < belief->n; k++)
        goal_model_believe(&belief->goals[k], x, outside);
}

/* ---- safety ---- */

/* Where equal values have no scale, on the right side of them. */
static double warped_threshold(const struct belief *belief, size_t goal)
{
    const struct warping *warping = &belief->goals[goal].warping;
    const double threshold = belief->setting->goals[goal].threshold;
    if (warping->spread == 0)
        return warping->median >= threshold ? -1 : 1;
    return warp_apply(warping, threshold);
}

static bool seems_safe(const struct belief *belief, const double x[])
{
    for (size_t k = 0; k < belief->n; k++)
        if (belief->setting->goals[k].safety &&
            !(goal_model_mean(&belief->goals[k], x) >=
              warped_threshold(belief, k)))
            return false;
    return true;
}

/* How many of the results met the threshold of goal k; failures did not. */
static double safe_share(const struct belief *belief, size_t k)
{
    const struct history *history = belief->history;
    size_t safe = 0;
    for (size_t i = 0; i < history->n; i++)
        safe +=
            history_value(history, i, k) >= belief->setting->goals[k].threshold
                ? 1
                : 0;
    return (double)safe / (double)history->n;
}

/* While fewer trials are safe than was asked for, the next one is to be safe
 * more likely than that. */
static double least_chance(const struct belief *belief)
{
    double least = 0;
    for (size_t k = 0; k < belief->n; k++) {
        const struct goal *goal = &belief->setting->goals[k];
        if (goal->safety && goal->safe_share > 0 &&
            safe_share(belief, k) < goal->safe_share)
            least = fmax(least, 0.5 + goal->safe_share / 2);
    }
    return least;
}

/* ---- the best known ---- */

static size_t list_objectives(const struct belief *belief, size_t index[])
{
    size_t m = 0;
    for (size_t k = 0; k < belief->n; k++)
        if (!belief->setting->goals[k].safety)
            index[m++] = k;
    return m;
}

/* The objectives' models under prior k, or the one there is. */
static size_t list_models(const struct belief *belief, size_t prior,
                          const struct gp *models[])
{
    size_t index[SETTING_METRICS];
    const size_t m = list_objectives(belief, index);
    for (size_t k = 0; k < m; k++) {
        const struct goal_model *goal = &belief->goals[index[k]];
        models[k] = goal->models[prior < goal->n ? prior : 0];
    }
    return m;
}

/* Whether only points outside are known: each is then moved to the nearest one
 * of today, with what the models make of that. */
static bool is_all_outside(const struct rows *rows, size_t n)
{
    bool all = true;
    for (size_t i = 0; i < n && all; i++)
        all = rows->outside[i];
    return all;
}

/* Row i moved into the part of the encoding. */
static void enter(const struct encoding *encoding, const struct rows *rows,
                  size_t i, double x[])
{
    kernel_rows_get(rows, i, x);
    if (rows->outside[i])
        encoding_return(encoding, x);
    else
        encoding_enter(encoding, x);
}

/* Points that a model has seen or believes, each where it would be in the part
 * of the encoding: what others have taught of that part counts for as much as
 * the model makes of it. Of a long history, each objective's model has seen
 * others. */
static void add_points(const struct belief *belief,
                       const struct encoding *encoding, const struct rows *rows,
                       const struct gp *const models[], struct pareto *front)
{
    const bool all = is_all_outside(rows, rows->n);
    double x[HT_MAX_PARAMETERS], values[SETTING_METRICS];
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->outside[i] && !all)
            continue;
        enter(encoding, rows, i, x);
        if (!seems_safe(belief, x))
            continue;
        for (size_t k = 0; k < front->m; k++)
            values[k] = gp_mean(models[k], x);
        if (!pareto_has(front, values))
            pareto_add(front, values, (int64_t)i);
    }
}

static void find_front(const struct belief *belief,
                       const struct encoding *encoding, size_t m,
                       const struct gp *const models[], struct pareto *front)
{
    pareto_init(front, m);
    add_points(belief, encoding, models[0]->rows, models, front);
    for (size_t k = 1; k < m && models[0]->n_seen < belief->history->n; k++)
        add_points(belief, encoding, models[k]->rows, models, front);
}

/* Where others gain less than this share of what it costs k, a front is flat.
 */
static const double flat_share = 0.05;

/* How much the others give up at a member, for objective k. */
static double given_up(const struct pareto *front, const double best[],
                       size_t i, size_t k)
{
    double most = 0;
    for (size_t j = 0; j < front->m; j++)
        if (j != k)
            most = fmax(most, best[j] - pareto_values(front, i)[j]);
    return most;
}

/* The worst that is worth counting of objective k is its value where all
 * others are best (the extreme points of Deb and Jain's NSGA-III, 2014). With
 * two objectives that is the worst of the front; with more a front has members
 * which are bad in all but one, and each would move the reference further out.
 */
static double corner(const struct pareto *front, const double best[], size_t k)
{
    double least = INFINITY, value = best[k];
    for (size_t i = 0; i < front->n; i++) {
        const double own = pareto_values(front, i)[k];
        const double lost =
            given_up(front, best, i, k) + flat_share * (best[k] - own);
        if (lost < least) {
            least = lost;
            value = own;
        }
    }
    return value;
}

static void find_reference(const struct pareto *front, double reference[])
{
    double best[SETTING_METRICS];
    for (size_t k = 0; k < front->m; k++) {
        best[k] = -INFINITY;
        for (size_t i = 0; i < front->n; i++)
            best[k] = fmax(best[k], pareto_values(front, i)[k]);
    }
    for (size_t k = 0; k < front->m; k++) {
        const double low = corner(front, best, k);
        reference[k] =
            low - fmax(reference_share * (best[k] - low), reference_least);
    }
}

/* ---- the promise ---- */

static void add_chances(const struct belief *belief,
                        struct acquisition *acquisition)
{
    struct chance *chance = acquisition->chances;
    if (belief->feasibility != NULL)
        *chance++ = (struct chance){.n = 1, .models = {belief->feasibility}};
    for (size_t k = 0; k < belief->n; k++) {
        if (!belief->setting->goals[k].safety)
            continue;
        *chance = (struct chance){.n = belief->goals[k].n,
                                  .threshold = warped_threshold(belief, k)};
        for (size_t i = 0; i < chance->n; i++)
            chance->models[i] = belief->goals[k].models[i];
        chance++;
    }
    acquisition->n_chances = (size_t)(chance - acquisition->chances);
}

void belief_promise(const struct belief *belief,
                    const struct encoding *encoding,
                    const struct rng_place *place,
                    struct acquisition *acquisition)
{
    const struct gp *models[SETTING_METRICS];
    *acquisition = (struct acquisition){.guide = belief->goals[0].models[0],
                                        .least_chance = least_chance(belief)};
    for (size_t prior = 0; prior < belief->goals[0].n; prior++) {
        double reference[SETTING_METRICS];
        struct pareto front;
        const size_t m = list_models(belief, prior, models);
        find_front(belief, encoding, m, models, &front);
        find_reference(&front, reference);
        if (front.n > 0)
            acquisition_add_outlook(acquisition, m, models, &front, reference,
                                    place);
        else
            pareto_fini(&front);
    }
    add_chances(belief, acquisition);
    spacing_init(&acquisition->spacing, acquisition->guide);
}

/* ---- what to start from ---- */

struct known { /* a result's place and how many are better */
    bool safe;
    size_t beaten;
    uint64_t order; /* among equal ones */
    double values[SETTING_METRICS];
    double x[HT_MAX_PARAMETERS];
};

static int compare_known(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (x->safe != y->safe)
        return x->safe ? -1 : 1;
    if (x->beaten != y->beaten)
        return x->beaten < y->beaten ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void rank_known(size_t m, size_t n, struct known known[])
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            known[i].beaten +=
                known[j].safe == known[i].safe &&
                        pareto_dominates(m, known[j].values, known[i].values)
                    ? 1
                    : 0;
    qsort(known, n, sizeof *known, compare_known);
}

void belief_known(const struct belief *belief, const struct rng_place *place,
                  struct candidates *candidates, double fill[])
{
    const struct gp *models[SETTING_METRICS];
    const size_t m = list_models(belief, 0, models);
    const struct rows *rows = belief->goals[0].models[0]->rows;
    const size_t n_seen = belief->goals[0].models[0]->n_seen;
    const bool all = is_all_outside(rows, n_seen);
    struct known *known = ht_xcalloc(n_seen + 1, sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < n_seen; i++) {
        if (rows->outside[i] && !all)
            continue;
        struct known *at = &known[n++];
        enter(candidates->encoding, rows, i, at->x);
        at->safe = seems_safe(belief, at->x);
        at->order = m > 1 ? rng_bits(place, i) : i;
        for (size_t k = 0; k < m; k++)
            at->values[k] = gp_mean(models[k], at->x);
    }
    rank_known(m, n, known);
    for (size_t i = 0; i < n && candidates->n_known < CANDIDATES_KNOWN; i++)
        memcpy(candidates->known[candidates->n_known++], known[i].x,
               sizeof known[i].x);
    for (size_t c = 0; c < rows->encoding->dim; c++) {
        size_t i = 0;
        while (i < n && known[i].x[c] == COORDINATE_ABSENT)
            i++;
        fill[c] = i < n ? known[i].x[c] : rows->encoding->at[c].usual;
    }
    free(known);
}
