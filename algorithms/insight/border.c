#include "algorithms/insight/border.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/order.h"
#include "proto/base/arena.h"

enum {
    LEAST_RESULTS = 30,
    LEAST_GOOD = 5,
    GOOD_SHARE = 10, /* one of so many is good */
    PLACES = 11,     /* where the model is asked, from end to end */
    FIGURES = 3      /* of a suggested end */
};

static const double near_end = 0.02; /* of the range */
static const double most_at_end = 0.8;
static const double decade = 10;
static const double largest_whole = 9e15; /* that a double holds exactly */

/* ---- where good results lie ---- */

struct good {
    size_t n;
    struct ranked *best; /* owned: of all results, the best first */
};

/* Results of today's space, predictions left out. */
static struct good find_good(const struct history *history, size_t goal)
{
    struct good good = {.best = ht_xcalloc(history->n + 1, sizeof *good.best)};
    size_t n = 0;
    for (size_t i = 0; i < history->n; i++) {
        const double value = history_value(history, i, goal);
        if (!isnan(value) && !history->outside[i] && history->variance[i] == 0)
            good.best[n++] = (struct ranked){value, i};
    }
    order_ranked(n, good.best);
    if (n >= LEAST_RESULTS)
        good.n = (n + GOOD_SHARE - 1) / GOOD_SHARE;
    if (n >= LEAST_RESULTS && good.n < LEAST_GOOD)
        good.n = LEAST_GOOD;
    return good;
}

static const double *row(const struct history *history, const struct good *good,
                         size_t i)
{
    return history->x + good->best[i].at * history->encoding->dim;
}

/* Place j of PLACES from the end, number 0, to the other one; levels have the
 * nearest of theirs. */
static double place_inside(const struct coordinate *at, bool upper, size_t j)
{
    const double share = (double)j / (PLACES - 1);
    const double u = upper ? 1 - share : share;
    if (at->levels == 0)
        return u;
    const size_t level = (size_t)round(share * (double)(at->levels - 1));
    return at->positions[upper ? at->levels - 1 - level : level];
}

static bool lies_at_end(const struct history *history, const struct good *good,
                        size_t c, bool upper)
{
    const double end = place_inside(&history->encoding->at[c], upper, 0);
    size_t n = 0;
    for (size_t i = 0; i < good->n; i++) {
        const bool near = fabs(row(history, good, i)[c] - end) < near_end;
        if (i == 0 && !near)
            return false;
        n += near ? 1 : 0;
    }
    return (double)n >= most_at_end * (double)good->n;
}

/* ---- what the model says ---- */

/* Of a good result moved to the end: whether it is better there than anywhere
 * inside, by more than the model may be wrong. */
static bool rises(const struct history *history, const struct goal_model *model,
                  const double at[], size_t c, bool upper)
{
    const struct coordinate *coordinate = &history->encoding->at[c];
    const size_t dim = history->encoding->dim;
    double x[PLACES * HT_MAX_PARAMETERS], mean[PLACES], variance[PLACES];
    bool all = true;
    for (size_t j = 0; j < PLACES; j++) {
        memcpy(x + j * dim, at, dim * sizeof *x);
        x[j * dim + c] = place_inside(coordinate, upper, j);
    }
    goal_model_predict(model, PLACES, x, mean, variance);
    for (size_t j = 1; all && j < PLACES; j++)
        all = x[j * dim + c] == x[c] ||
              mean[0] - mean[j] >
                  sqrt(fmax(variance[0], 0) + fmax(variance[j], 0));
    return all;
}

static bool rises_at_good(const struct history *history,
                          const struct good *good,
                          const struct goal_model *model, size_t c, bool upper)
{
    size_t n = 0;
    for (size_t i = 0; i < good->n; i++) {
        const double *at = row(history, good, i);
        const bool rising =
            at[c] != COORDINATE_ABSENT && rises(history, model, at, c, upper);
        if (i == 0 && !rising)
            return false;
        n += rising ? 1 : 0;
    }
    return (double)n >= most_at_end * (double)good->n;
}

/* ---- one further out ---- */

static double rounded(double value)
{
    if (value == 0)
        return 0;
    const double unit =
        pow(10, floor(log10(fabs(value))) - (double)(FIGURES - 1));
    /* A power of ten that is less than 1 is not exact, its inverse is. */
    return unit < 1 ? round(value * round(1 / unit)) / round(1 / unit)
                    : round(value / unit) * unit;
}

static double end_value(const struct param *param, bool upper)
{
    switch (param->type) {
    case PARAM_DOUBLE:
        return upper ? param->max : param->min;
    case PARAM_INTEGER:
        return (double)(upper ? param->int_max : param->int_min);
    case PARAM_DISCRETE:
        return param->numbers[upper ? param->n_values - 1 : 0];
    case PARAM_CATEGORICAL:
        break;
    }
    return NAN;
}

/* An end that a range can hardly be without: nothing is below 0 or 1 of
 * something, and a share is at most 1. */
static bool is_natural(const struct param *param, bool upper)
{
    const double end = end_value(param, upper);
    const double low = end_value(param, false);
    if (param->type == PARAM_DOUBLE)
        return end == 0 ||
               (upper && end == 1 && low >= 0 && param->scale == SCALE_LINEAR);
    return !upper && (end == 0 || end == 1);
}

/* What stays on its side of 0, and a share below 1. */
static double limited(const struct param *param, bool upper, double value)
{
    const double low = end_value(param, false);
    const bool share = param->type == PARAM_DOUBLE &&
                       param->scale == SCALE_LINEAR && low >= 0 &&
                       end_value(param, true) < 1;
    if (!upper && low > 0)
        return fmax(value, param->type == PARAM_DOUBLE ? 0 : 1);
    return upper && share ? fmin(value, 1) : value;
}

static double further(double low, double high, enum param_scale scale,
                      bool upper)
{
    if (scale == SCALE_LOG) {
        const double factor = fmin(decade, sqrt(high / low));
        return upper ? high * factor : low / factor;
    }
    return upper ? high + (high - low) / 2 : low - (high - low) / 2;
}

/* As even as the last two values are, by ratio where the ratios of the last
 * three are equal. */
static double next_of_list(const struct param *param, bool upper)
{
    const size_t n = param->n_values;
    const double *v = param->numbers;
    const double a = upper ? v[n - 1] : v[0], b = upper ? v[n - 2] : v[1];
    const double c = n < 3 ? NAN : upper ? v[n - 3] : v[2];
    const bool by_ratio = v[0] > 0 && fabs(a / b - b / c) < 1e-9 * fabs(a / b);
    return by_ratio ? a * (a / b) : a + (a - b);
}

/* On a step of today's range, at least one further out. */
static double on_step(double end, double value, double step)
{
    const double steps = fmax(1, round(fabs(value - end) / step));
    return end + (value > end ? 1 : -1) * steps * step;
}

static double beyond(const struct param *param, bool upper)
{
    const double end = end_value(param, upper);
    const double step =
        param->type == PARAM_INTEGER ? (double)param->int_step : param->step;
    if (param->type == PARAM_DISCRETE)
        return limited(param, upper, next_of_list(param, upper));
    const double value =
        limited(param, upper,
                rounded(further(end_value(param, false), end_value(param, true),
                                param->scale, upper)));
    return step > 0 ? on_step(end, value, step) : value;
}

static bool is_further(const struct param *param, bool upper, double value)
{
    const double end = end_value(param, upper);
    return (upper ? value > end : value < end) && fabs(value) < largest_whole &&
           (param->scale == SCALE_LINEAR || value > 0);
}

/* ---- all of it ---- */

static bool find_at(const struct history *history, const struct good *good,
                    const struct goal_model *model, size_t c,
                    struct border *border)
{
    const struct coordinate *at = &history->encoding->at[c];
    const struct param *param = &history->encoding->space->params[at->param];
    const bool upper = border->upper;
    if (is_natural(param, upper) || !lies_at_end(history, good, c, upper) ||
        !rises_at_good(history, good, model, c, upper))
        return false;
    border->good = good->n;
    border->end = end_value(param, upper);
    border->beyond = beyond(param, upper);
    return is_further(param, upper, border->beyond);
}

bool border_find(const struct history *history, size_t goal,
                 const struct goal_model *model, size_t c,
                 struct border *border)
{
    const struct coordinate *at = &history->encoding->at[c];
    const enum param_scale scale =
        history->encoding->space->params[at->param].scale;
    if (at->kind == COORDINATE_CATEGORY || at->levels == 1 ||
        scale == SCALE_REVERSE_LOG)
        return false;
    struct good good = find_good(history, goal);
    bool found = false;
    for (int end = 0; good.n > 0 && !found && end < 2; end++) {
        border->upper = end == 1;
        found = find_at(history, &good, model, c, border);
    }
    free(good.best);
    return found;
}
