/* space_widen.c - an open space that gets the parameters and values of a new
 * trial. */

#include "proto/space/space.h"

#include <string.h>

#include "proto/base/limits.h"

/* Labels of `more` follow the ones that trials may have already. */
static bool add_labels(struct arena *arena, struct param *param,
                       const struct param *more)
{
    const char **labels = arena_alloc(
        arena, param->n_values + more->n_values + 1, sizeof *labels);
    size_t n = param->n_values;
    for (size_t i = 0; i < n; i++)
        labels[i] = param->labels[i];
    for (size_t i = 0; i < more->n_values; i++) {
        size_t j = 0;
        while (j < n && strcmp(labels[j], more->labels[i]) != 0)
            j++;
        if (j == n)
            labels[n++] = more->labels[i];
    }
    const bool changed = n > param->n_values;
    param->labels = labels;
    param->n_values = n;
    return changed;
}

/* Both lists are increasing. */
static bool add_numbers(struct arena *arena, struct param *param,
                        const struct param *more)
{
    double *numbers = arena_alloc(arena, param->n_values + more->n_values + 1,
                                  sizeof *numbers);
    size_t n = 0, i = 0, j = 0;
    while (i < param->n_values || j < more->n_values) {
        const bool ours =
            j == more->n_values ||
            (i < param->n_values && param->numbers[i] <= more->numbers[j]);
        const double next = ours ? param->numbers[i++] : more->numbers[j++];
        if (n == 0 || next > numbers[n - 1])
            numbers[n++] = next;
    }
    const bool changed = n > param->n_values;
    param->numbers = numbers;
    param->n_values = n;
    return changed;
}

static bool widen_range(struct param *param, const struct param *more)
{
    bool changed = false;
    if (more->min < param->min || more->max > param->max) {
        param->min = more->min < param->min ? more->min : param->min;
        param->max = more->max > param->max ? more->max : param->max;
        changed = true;
    }
    if (more->int_min < param->int_min || more->int_max > param->int_max) {
        param->int_min =
            more->int_min < param->int_min ? more->int_min : param->int_min;
        param->int_max =
            more->int_max > param->int_max ? more->int_max : param->int_max;
        changed = true;
    }
    return changed;
}

static bool widen_param(struct arena *arena, struct param *param,
                        const struct param *more)
{
    switch (param->type) {
    case PARAM_CATEGORICAL:
        return add_labels(arena, param, more);
    case PARAM_DISCRETE:
        return add_numbers(arena, param, more);
    case PARAM_DOUBLE:
    case PARAM_INTEGER:
        break;
    }
    return widen_range(param, more);
}

enum ht_status space_widen(struct arena *arena, struct space *space,
                           const struct space *more, bool *changed,
                           struct ht_error *err)
{
    struct space wide = *space;
    bool any = false;
    wide.params =
        arena_alloc(arena, space->n + more->n + 1, sizeof *wide.params);
    for (size_t i = 0; i < space->n; i++)
        wide.params[i] = space->params[i];
    for (size_t i = 0; i < more->n; i++) {
        const struct param *param = &more->params[i];
        const int at = space_find(&wide, param->name);
        if (at < 0) {
            wide.params[wide.n++] = *param;
            any = true;
        } else if (wide.params[at].type != param->type ||
                   wide.params[at].scale != param->scale) {
            return ht_fail(err, HT_INVALID,
                           "parameter %.64s has another type or scale in this "
                           "study",
                           param->name);
        } else {
            any |= widen_param(arena, &wide.params[at], param);
        }
    }
    if (wide.n > HT_MAX_PARAMETERS)
        return ht_fail(err, HT_INVALID, "a study has at most %d parameters",
                       HT_MAX_PARAMETERS);
    *space = wide;
    *changed = any;
    return HT_OK;
}
