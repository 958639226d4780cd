#include "algorithms/model/history.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/base/order.h"
#include "algorithms/model/gp.h"
#include "proto/base/arena.h"

/* Of the way from the mean to the worst value that came out: bad enough not to
 * return to, not so bad that one failure hides what is beside it. */
static const double failure_share = 0.5;

void history_init(struct history *history, const struct encoding *encoding,
                  size_t n_goals)
{
    *history = (struct history){.encoding = encoding, .n_goals = n_goals};
}

/* A front of two is found as well on the bent scale, which is the steadier one
 * where values have long tails. Of a bound only one place of the scale matters,
 * and ranks would blur it. */
enum { FEW = 2 };

void history_trade(struct history *history, const struct setting *setting)
{
    const size_t objectives = setting_objectives(setting);
    for (size_t k = 0; k < setting->n_goals; k++)
        history->traded[k] = objectives > FEW || setting->goals[k].safety;
}

void history_fini(struct history *history)
{
    free(history->x);
    free(history->points);
    free(history->values);
    free(history->variance);
    free(history->outside);
}

static void grow(struct history *history)
{
    const size_t dim = history->encoding->dim;
    const size_t width = history->encoding->space->n;
    history->cap = history->cap == 0 ? 64 : 2 * history->cap;
    history->x =
        ht_xrealloc(history->x, history->cap * dim + 1, sizeof *history->x);
    history->points = ht_xrealloc(history->points, history->cap * width + 1,
                                  sizeof *history->points);
    history->values =
        ht_xrealloc(history->values, history->cap * history->n_goals + 1,
                    sizeof *history->values);
    history->variance =
        ht_xrealloc(history->variance, history->cap, sizeof *history->variance);
    history->outside =
        ht_xrealloc(history->outside, history->cap, sizeof *history->outside);
}

void history_add(struct history *history, const struct observation *seen)
{
    const size_t at = history->n, goals = history->n_goals;
    if (at == history->cap)
        grow(history);
    const bool usable =
        seen->feasible && goals > 0 && isfinite(seen->values[0]);
    for (size_t k = 0; k < goals; k++)
        history->values[at * goals + k] =
            usable && isfinite(seen->values[k]) ? seen->values[k] : NAN;
    history->variance[at] = usable ? seen->variance : 0;
    const struct space *space = history->encoding->space;
    for (size_t i = 0; i < space->n; i++)
        history->points[at * space->n + i] = seen->point[i];
    history->outside[at] = !space_has(space, seen->point);
    double *x = history->x + at * history->encoding->dim;
    encoding_encode(history->encoding, seen->point, x);
    for (size_t c = 0; c < history->encoding->dim; c++)
        if (history->shared != NULL && !history->shared[c])
            x[c] = COORDINATE_ABSENT;
    history->n++;
}

void history_constrain(struct history *history,
                       const struct constraint_set *constraints)
{
    const struct space *space = history->encoding->space;
    for (size_t i = 0; constraints != NULL && i < history->n; i++) {
        const struct value *point = history->points + i * space->n;
        history->outside[i] = !space_has(space, point) ||
                              !constraint_set_holds(constraints, point);
    }
}

struct observation history_get(const struct history *history, size_t i)
{
    return (struct observation){
        .point = history->points + i * history->encoding->space->n,
        .feasible = !isnan(history_value(history, i, 0)),
        .values = history->values + i * history->n_goals,
        .variance = history->variance[i]};
}

const struct history *history_outcomes(const struct history *history)
{
    return history->outcomes == NULL ? history : history->outcomes;
}

double history_value(const struct history *history, size_t i, size_t goal)
{
    return goal < history->n_goals
               ? history->values[i * history->n_goals + goal]
               : NAN;
}

size_t history_feasible(const struct history *history, size_t n)
{
    size_t feasible = 0;
    for (size_t i = 0; i < n; i++)
        feasible += isnan(history_value(history, i, 0)) ? 0 : 1;
    return feasible;
}

/* ---- which ones ---- */

static void mark_best(const struct history *history, size_t goal, size_t n,
                      size_t most, bool chosen[])
{
    struct ranked *ranked = ht_xcalloc(n, sizeof *ranked);
    size_t feasible = 0;
    for (size_t i = 0; i < n; i++)
        if (!history->outside[i] && !isnan(history_value(history, i, goal)))
            ranked[feasible++] =
                (struct ranked){history_value(history, i, goal), i};
    order_ranked(feasible, ranked);
    for (size_t i = 0; i < feasible && i < most; i++)
        chosen[ranked[i].at] = true;
    free(ranked);
}

/* Writes the indexes in order; returns how many. */
static size_t choose(const struct history *history, size_t goal, size_t n,
                     size_t most, size_t index[])
{
    bool *chosen = ht_xcalloc(n + 1, sizeof *chosen);
    size_t n_chosen = 0, n_index = 0;
    if (n > most)
        mark_best(history, goal, n, most - most / 3, chosen);
    for (size_t i = 0; i < n; i++)
        n_chosen += chosen[i];
    for (size_t i = n; i-- > 0 && n_chosen < most;) {
        n_chosen += !chosen[i];
        chosen[i] = true;
    }
    for (size_t i = 0; i < n; i++)
        if (chosen[i])
            index[n_index++] = i;
    free(chosen);
    return n_index;
}

/* ---- the model ---- */

/* What a model learns of the results at n indexes. */
struct lesson {
    size_t n;
    const size_t *index;
    double *values, *own; /* own: variance of a value, see gp_add() */
};

static void find_warping(const struct history *history, size_t goal,
                         const struct lesson *lesson, struct warping *warping)
{
    double *raw = ht_xcalloc(lesson->n + 1, sizeof *raw);
    size_t n = 0;
    for (size_t i = 0; i < lesson->n; i++)
        if (!isnan(history_value(history, lesson->index[i], goal)))
            raw[n++] = history_value(history, lesson->index[i], goal);
    if (history->traded[goal])
        warp_init_traded(warping, n, raw);
    else
        warp_init(warping, n, raw);
    free(raw);
}

/* The variance of a prediction, on the warped scale: from one deviation below
 * to one above. */
static double own_variance(const struct warping *warping, double value,
                           double variance)
{
    if (variance == 0)
        return 0;
    const double s = sqrt(variance);
    const double half =
        (warp_apply(warping, value + s) - warp_apply(warping, value - s)) / 2;
    return half * half;
}

static void learn_values(const struct history *history, size_t goal,
                         const struct warping *warping, struct lesson *lesson)
{
    double worst = 0;
    for (size_t i = 0; i < lesson->n; i++) {
        const size_t at = lesson->index[i];
        const double value = history_value(history, at, goal);
        lesson->values[i] = isnan(value) ? NAN : warp_apply(warping, value);
        if (goal == 0 && !isnan(value))
            lesson->own[i] =
                own_variance(warping, value, history->variance[at]);
        worst = fmin(worst, isnan(value) ? 0 : lesson->values[i]);
    }
    for (size_t i = 0; i < lesson->n; i++)
        if (isnan(lesson->values[i]))
            lesson->values[i] = failure_share * worst;
}

static void learn_feasibility(const struct history *history,
                              struct lesson *lesson)
{
    for (size_t i = 0; i < lesson->n; i++)
        lesson->values[i] =
            isnan(history_value(history, lesson->index[i], 0)) ? -1 : 1;
}

struct gp *history_model(const struct history *history,
                         const struct target *target,
                         const struct selection *selection, bool fits,
                         struct warping *warping)
{
    const size_t dim = history->encoding->dim;
    size_t *index = ht_xcalloc(selection->most + 1, sizeof *index);
    struct lesson lesson = {.n = choose(history, target->goal, selection->n,
                                        selection->most, index),
                            .index = index};
    struct warping own;
    lesson.values = ht_xcalloc(2 * lesson.n + 1, sizeof *lesson.values);
    lesson.own = lesson.values + lesson.n;
    find_warping(history, target->goal, &lesson, &own);
    if (target->aspect == ASPECT_VALUE)
        learn_values(history, target->goal, &own, &lesson);
    else
        learn_feasibility(history, &lesson);
    struct gp *gp =
        gp_new(history->encoding, lesson.n + selection->extra, fits);
    if (target->on_base)
        gp->base = history->bases[target->goal];
    for (size_t i = 0; i < lesson.n; i++) {
        gp_add(gp, history->x + index[i] * dim, lesson.values[i],
               lesson.own[i]);
        gp->rows->outside[i] = history->outside[index[i]];
    }
    if (warping != NULL)
        *warping = own;
    else
        warp_fini(&own);
    free(index);
    free(lesson.values);
    return gp;
}
