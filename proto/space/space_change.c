/* space_change.c - a space that changes while its study runs, and what trials
 * made before the change may have. */

#include "proto/space/space.h"

#include <math.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/number.h"

/* ---- what may not change ---- */

static bool asks_value(const struct space *space, const struct condition *of,
                       const char *value)
{
    bool found = false;
    for (size_t i = 0; i < of->n && !found; i++) {
        struct text text = {0};
        space_value_text(&space->params[of->parent], of->values[i], &text);
        found = strcmp(text.data, value) == 0;
        text_free(&text);
    }
    return found;
}

/* The parents of both have the same indexes, but those of values may differ. */
static bool same_condition(const struct space *from, const struct condition *a,
                           const struct space *to, const struct condition *b)
{
    bool same = a->parent == b->parent && a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++) {
        struct text text = {0};
        space_value_text(&from->params[a->parent], a->values[i], &text);
        same = asks_value(to, b, text.data);
        text_free(&text);
    }
    return same;
}

static bool same_conditions(const struct space *from, const struct param *old,
                            const struct space *to, const struct param *new)
{
    size_t n_old = 0, n_new = 0;
    for (const struct condition *b = new->when; b; b = b->next)
        n_new++;
    for (const struct condition *a = old->when; a; a = a->next, n_old++) {
        const struct condition *b = new->when;
        while (b && !same_condition(from, a, to, b))
            b = b->next;
        if (b == NULL)
            return false;
    }
    return n_old == n_new;
}

static enum ht_status conflict(const struct param *param, const char *what,
                               struct ht_error *err)
{
    return ht_fail(err, HT_CONFLICT,
                   "parameters.%.64s %s; clone the study: hypertune clone",
                   param->name, what);
}

static enum ht_status check_names(const struct space *from,
                                  const struct space *to, struct ht_error *err)
{
    for (size_t i = 0; i < from->n; i++)
        if (space_find(to, from->params[i].name) < 0)
            return conflict(&from->params[i], "is gone", err);
    for (size_t i = 0; i < to->n; i++)
        if (space_find(from, to->params[i].name) < 0)
            return conflict(&to->params[i], "is new", err);
    for (size_t i = 0; i < to->n; i++)
        if (i >= from->n ||
            strcmp(from->params[i].name, to->params[i].name) != 0)
            return conflict(&to->params[i], "changes its place", err);
    return from->n == to->n
               ? HT_OK
               : conflict(&from->params[to->n], "changes its place", err);
}

static enum ht_status check_kinds(const struct space *from,
                                  const struct space *to, struct ht_error *err)
{
    for (size_t i = 0; i < to->n; i++) {
        const struct param *old = &from->params[i], *new = &to->params[i];
        if (old->type != new->type)
            return conflict(new, "changes its type", err);
        if (old->scale != new->scale)
            return conflict(new, "changes its scale", err);
    }
    for (size_t i = 0; i < to->n; i++)
        if (!same_conditions(from, &from->params[i], to, &to->params[i]))
            return conflict(&to->params[i], "changes its condition", err);
    return HT_OK;
}

/* ---- constants ---- */

/* The number of a parameter with one value; false when it is none. */
static bool read_constant(const struct param *param, struct node *number)
{
    if (param->n_values != 1)
        return false;
    *number = (struct node){.kind = NODE_NUMBER};
    if (param->type == PARAM_CATEGORICAL) {
        number->text = param->labels[0];
        return number_is_json(number->text);
    }
    return param->type == PARAM_DISCRETE;
}

/* Conditions hold values of their parents as those have them. */
static bool is_parent(const struct space *space, size_t i)
{
    for (size_t k = 0; k < space->n; k++)
        for (const struct condition *c = space->params[k].when; c; c = c->next)
            if (c->parent == i)
                return true;
    return false;
}

/* A number for a range or a list of numbers is the only value of it now; what
 * is none changes the type. */
static void fix(struct arena *arena, const struct param *old, struct param *new)
{
    struct node node;
    double x = 0;
    int64_t whole = 0;
    if (old->type == new->type || old->type == PARAM_CATEGORICAL ||
        !read_constant(new, &node))
        return;
    if (node.text == NULL)
        node.text = arena_printf(arena, "%.17g", new->numbers[0]);
    if (old->type == PARAM_INTEGER ? !node_int64(&node, &whole)
                                   : !node_double(&node, &x))
        return;
    if (old->scale != SCALE_LINEAR && !(x > 0) && whole <= 0)
        return;
    double *numbers = arena_alloc(arena, 1, sizeof *numbers);
    numbers[0] = x;
    *new = (struct param){.name = new->name,
                          .type = old->type,
                          .scale = old->scale,
                          .scale_said = old->scale_said,
                          .min = x,
                          .max = x,
                          .int_min = whole,
                          .int_max = whole,
                          .int_step = 1,
                          .when = new->when};
    if (old->type == PARAM_DISCRETE) {
        new->n_values = 1;
        new->numbers = numbers;
    }
}

/* ---- former values of ranges ---- */

/* Every range that trials may have been made in, and this one. */
static struct former hull_of(const struct param *old, const struct param *new)
{
    struct former hull = {true, new->min, new->max, new->int_min, new->int_max};
    const struct former today = {true, old->min, old->max, old->int_min,
                                 old->int_max};
    const struct former *const before[] = {&today, &old->former};
    for (size_t i = 0; i < 2; i++) {
        const struct former *range = before[i];
        if (!range->has_range)
            continue;
        hull.min = fmin(hull.min, range->min);
        hull.max = fmax(hull.max, range->max);
        hull.int_min =
            hull.int_min < range->int_min ? hull.int_min : range->int_min;
        hull.int_max =
            hull.int_max > range->int_max ? hull.int_max : range->int_max;
    }
    return hull;
}

static bool is_same_range(const struct param *a, const struct param *b)
{
    return a->min == b->min && a->max == b->max && a->step == b->step &&
           a->int_min == b->int_min && a->int_max == b->int_max &&
           a->int_step == b->int_step;
}

static void change_range(const struct param *old, struct param *new)
{
    const struct former hull = hull_of(old, new);
    const bool covers = hull.min >= new->min &&hull.max <=
                        new->max &&hull.int_min >=
                        new->int_min &&hull.int_max <= new->int_max;
    const bool stepped =
        new->type == PARAM_DOUBLE ? new->step > 0 : new->int_step > 1;
    const bool same = !old->former.has_range && is_same_range(old, new);
    new->former = covers && (!stepped || same) ? (struct former){0} : hull;
}

/* ---- former values of lists ---- */

static bool has_label(size_t n, const char *const labels[], const char *label)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(labels[i], label) == 0)
            return true;
    return false;
}

static void change_labels(struct arena *arena, const struct param *old,
                          struct param *new)
{
    const size_t n_old = old->n_values + old->n_former;
    const char **labels =
        arena_alloc(arena, new->n_values + n_old + 1, sizeof *labels);
    size_t n = 0;
    for (; n < new->n_values; n++)
        labels[n] = new->labels[n];
    for (size_t i = 0; i < n_old; i++)
        if (!has_label(n, labels, old->labels[i]))
            labels[n++] = old->labels[i];
    new->labels = labels;
    new->n_former = n - new->n_values;
}

/* Puts a number where it belongs among the former ones, which increase. */
static void insert_number(size_t first, size_t n, double numbers[], double x)
{
    for (; n > first && numbers[n - 1] > x; n--)
        numbers[n] = numbers[n - 1];
    numbers[n] = x;
}

static void change_numbers(struct arena *arena, const struct param *old,
                           struct param *new)
{
    const size_t n_old = old->n_values + old->n_former;
    double *numbers =
        arena_alloc(arena, new->n_values + n_old + 1, sizeof *numbers);
    size_t n = 0;
    for (; n < new->n_values; n++)
        numbers[n] = new->numbers[n];
    for (size_t i = 0; i < n_old; i++) {
        const double x = old->numbers[i];
        /* As when values are read. */
        if (fabs(new->numbers[space_nearest(new, x)] - x) > 1e-10)
            insert_number(new->n_values, n++, numbers, x);
    }
    new->numbers = numbers;
    new->n_former = n - new->n_values;
}

/* ---- the whole ---- */

static void change_param(struct arena *arena, const struct param *old,
                         struct param *new)
{
    switch (new->type) {
    case PARAM_DOUBLE:
    case PARAM_INTEGER:
        change_range(old, new);
        break;
    case PARAM_DISCRETE:
        change_numbers(arena, old, new);
        break;
    case PARAM_CATEGORICAL:
        change_labels(arena, old, new);
        break;
    }
}

/* A part of the former values would have no place in the stored spec, which
 * names parameters; and an open space is what its trials have. */
static enum ht_status check_former(const struct space *space, size_t i,
                                   struct ht_error *err)
{
    const struct param *param = &space->params[i];
    bool shared = space_find(space, param->name) < (int)i;
    if (!space_param_has_former(param))
        return HT_OK;
    if (space->open)
        return conflict(param,
                        "has values of trials, which define this study's space",
                        err);
    for (size_t j = i + 1; j < space->n; j++)
        shared |= strcmp(space->params[j].name, param->name) == 0;
    if (shared)
        return conflict(param, "is the name of several parameters", err);
    return param->n_former <= HT_MAX_FORMER
               ? HT_OK
               : conflict(param, "has had too many values", err);
}

enum ht_status space_change(struct arena *arena, const struct space *from,
                            struct space *to, struct ht_error *err)
{
    struct space changed = *to;
    enum ht_status status = check_names(from, to, err);
    if (status != HT_OK)
        return status;
    changed.params = arena_alloc(arena, to->n + 1, sizeof *changed.params);
    for (size_t i = 0; i < to->n; i++) {
        changed.params[i] = to->params[i];
        if (!is_parent(to, i))
            fix(arena, &from->params[i], &changed.params[i]);
    }
    status = check_kinds(from, &changed, err);
    if (status == HT_OK)
        for (size_t i = 0; i < to->n; i++)
            change_param(arena, &from->params[i], &changed.params[i]);
    for (size_t i = 0; i < to->n && status == HT_OK; i++)
        status = check_former(&changed, i, err);
    if (status == HT_OK)
        *to = changed;
    return status;
}

/* ---- today's points ---- */

static bool has_whole(const struct param *param, int64_t whole)
{
    return whole >= param->int_min && whole <= param->int_max &&
           ((uint64_t)whole - (uint64_t)param->int_min) %
                   (uint64_t)param->int_step ==
               0;
}

static bool has_real(const struct param *param, double real)
{
    if (real < param->min || real > param->max)
        return false;
    if (!(param->step > 0))
        return true;
    const double j = nearbyint((real - param->min) / param->step);
    const uint64_t levels = space_param_levels(param);
    return levels == 0 || (j < (double)levels &&
                           fabs(space_param_level(param, (uint64_t)j).real -
                                real) <= param->step * 1e-6);
}

bool space_param_has_former(const struct param *param)
{
    return param->former.has_range || param->n_former > 0;
}

/* Without a change there is nothing to look for, and what is read had its
 * range checked. */
bool space_param_is_former(const struct param *param, struct value value)
{
    switch (param->type) {
    case PARAM_DOUBLE:
        return param->former.has_range && !has_real(param, value.real);
    case PARAM_INTEGER:
        return param->former.has_range && !has_whole(param, value.whole);
    case PARAM_DISCRETE:
    case PARAM_CATEGORICAL:
        break;
    }
    return (uint64_t)value.whole >= param->n_values;
}

bool space_has(const struct space *space, const struct value point[])
{
    for (size_t i = 0; i < space->n; i++)
        if (!point[i].absent &&
            space_param_is_former(&space->params[i], point[i]))
            return false;
    return true;
}
