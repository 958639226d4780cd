#include "proto/space/space.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/quote.h"
#include "proto/doc/json.h"

const char *const *space_names(struct arena *arena, const struct space *space)
{
    const char **names = arena_alloc(arena, space->n + 1, sizeof *names);
    for (size_t i = 0; i < space->n; i++)
        names[i] = space->params[i].name;
    return names;
}

int space_find(const struct space *space, const char *name)
{
    for (size_t i = 0; i < space->n; i++)
        if (strcmp(space->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool space_shares_names(const struct space *space)
{
    for (size_t i = 0; i < space->n; i++)
        if (space_find(space, space->params[i].name) != (int)i)
            return true;
    return false;
}

/* ---- conditions ---- */

/* What is known of each parameter while one point is looked at. Parents share
 * ancestors, so without it a walk could take 2^n steps. */
enum presence { PRESENCE_UNKNOWN, PRESENCE_ACTIVE, PRESENCE_INACTIVE };

struct activity {
    const struct space *space;
    const struct value *point;
    unsigned char known[HT_MAX_PARAMETERS]; /* enum presence */
};

static bool activity_of(struct activity *activity, size_t i);

static bool condition_holds(struct activity *activity,
                            const struct condition *condition)
{
    const struct param *parent = &activity->space->params[condition->parent];
    const struct value value = activity->point[condition->parent];
    for (size_t i = 0; i < condition->n; i++)
        if (space_value_equal(parent, value, condition->values[i]))
            return activity_of(activity, condition->parent);
    return false;
}

static bool activity_of(struct activity *activity, size_t i)
{
    assert(i < HT_MAX_PARAMETERS);
    if (activity->known[i] != PRESENCE_UNKNOWN)
        return activity->known[i] == PRESENCE_ACTIVE;
    bool active = true;
    for (const struct condition *c = activity->space->params[i].when;
         c && active; c = c->next)
        active = condition_holds(activity, c);
    activity->known[i] = active ? PRESENCE_ACTIVE : PRESENCE_INACTIVE;
    return active;
}

bool space_active(const struct space *space, const struct value point[],
                  size_t i)
{
    struct activity activity = {.space = space, .point = point};
    return activity_of(&activity, i);
}

void space_settle(const struct space *space, struct value point[])
{
    struct activity activity = {.space = space, .point = point};
    /* A mark of an earlier settling says nothing about this point. */
    for (size_t i = 0; i < space->n; i++)
        point[i].absent = false;
    for (size_t i = 0; i < space->n; i++)
        activity_of(&activity, i);
    for (size_t i = 0; i < space->n; i++)
        point[i].absent = activity.known[i] == PRESENCE_INACTIVE;
}

int space_find_active(const struct space *space, const struct value point[],
                      const char *name)
{
    struct activity activity = {.space = space, .point = point};
    for (size_t i = 0; i < space->n; i++)
        if (strcmp(space->params[i].name, name) == 0 &&
            activity_of(&activity, i))
            return (int)i;
    return -1;
}

/* Marks a parameter and all its ancestors. */
static void mark_line(const struct space *space, size_t i, bool line[])
{
    if (line[i])
        return;
    line[i] = true;
    for (const struct condition *c = space->params[i].when; c; c = c->next)
        mark_line(space, c->parent, line);
}

static bool conditions_exclude(const struct space *space,
                               const struct condition *a,
                               const struct condition *b)
{
    if (a->parent != b->parent)
        return false;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++)
            if (space_value_equal(&space->params[a->parent], a->values[i],
                                  b->values[j]))
                return false;
    return true;
}

/* Whether a condition of parameter i excludes one of those in `line`. */
static bool excludes_line(const struct space *space, size_t i,
                          const bool line[])
{
    for (const struct condition *a = space->params[i].when; a; a = a->next)
        for (size_t j = 0; j < space->n; j++)
            for (const struct condition *b = space->params[j].when; b;
                 b = b->next)
                if (line[j] && conditions_exclude(space, a, b))
                    return true;
    return false;
}

bool space_excludes(const struct space *space, size_t a, size_t b)
{
    bool of_a[HT_MAX_PARAMETERS] = {false}, of_b[HT_MAX_PARAMETERS] = {false};
    mark_line(space, a, of_a);
    mark_line(space, b, of_b);
    for (size_t i = 0; i < space->n; i++)
        if (of_a[i] && excludes_line(space, i, of_b))
            return true;
    return false;
}

bool space_is_flat(const struct space *space)
{
    for (size_t i = 0; i < space->n; i++)
        if (space->params[i].when != NULL)
            return false;
    return true;
}

/* ---- levels ---- */

/* max - min of two int64 does not fit an int64; as uint64 it always does. */
static uint64_t int_span(const struct param *param)
{
    return (uint64_t)param->int_max - (uint64_t)param->int_min;
}

/* A range of 0.3 in steps of 0.1 has 4 levels although 0.3/0.1 is a little
 * below 3 in binary: the tolerance is far above rounding, far below a step. */
static uint64_t stepped_levels(const struct param *param)
{
    double steps = floor((param->max - param->min) / param->step + 1e-9);
    return steps < 0x1p63 ? (uint64_t)steps + 1 : 0;
}

static uint64_t double_levels(const struct param *param)
{
    if (param->step > 0)
        return stepped_levels(param);
    return param->min == param->max ? 1 : 0;
}

static uint64_t int_levels(const struct param *param)
{
    uint64_t steps = int_span(param) / (uint64_t)param->int_step;
    return steps == UINT64_MAX ? UINT64_MAX : steps + 1;
}

uint64_t space_param_levels(const struct param *param)
{
    switch (param->type) {
    case PARAM_DOUBLE:
        return double_levels(param);
    case PARAM_INTEGER:
        return int_levels(param);
    case PARAM_DISCRETE:
    case PARAM_CATEGORICAL:
        return param->n_values;
    }
    return 0;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* min + j*step as a person would write it: 0.1 + 2*0.1 is 0.3, not
 * 0.30000000000000004. Fifteen digits is what a double always keeps. */
static double stepped_level(const struct param *param, uint64_t j)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.15g",
             param->min + (double)j * param->step);
    return clamp(strtod(digits, NULL), param->min, param->max);
}

struct value space_param_level(const struct param *param, uint64_t j)
{
    struct value value = {0};
    switch (param->type) {
    case PARAM_DOUBLE:
        value.real = param->step > 0 ? stepped_level(param, j) : param->min;
        break;
    case PARAM_INTEGER:
        value.whole =
            (int64_t)((uint64_t)param->int_min + j * (uint64_t)param->int_step);
        break;
    case PARAM_DISCRETE:
    case PARAM_CATEGORICAL:
        value.whole = (int64_t)j;
        break;
    }
    return value;
}

uint64_t space_size(const struct space *space)
{
    return subspace_size(space, NULL);
}

/* ---- from the unit interval ---- */

static double log_between(double low, double high, double u)
{
    return exp(log(low) + u * (log(high) - log(low)));
}

/* Halves first: the width of [-1e308, 1e308] is no double. */
static double linear_between(double low, double high, double u)
{
    return 2 * (low / 2 + u * (high / 2 - low / 2));
}

static double scaled_from_unit(const struct param *param, double u)
{
    double low = param->min, high = param->max;
    switch (param->scale) {
    case SCALE_LINEAR:
        return linear_between(low, high, u);
    case SCALE_LOG:
        return log_between(low, high, u);
    case SCALE_REVERSE_LOG:
        return high - (log_between(low, high, 1 - u) - low);
    }
    return low;
}

/* The middle of 1e-5 to 0.1 is to read 0.001, not 0.0010000000000000002: a
 * number of few digits that is nearer than the logarithms are exact is meant.
 */
static double shorten(double x)
{
    enum { DIGITS = 6 };
    const double unit = pow(10, floor(log10(fabs(x))) - (DIGITS - 1));
    char digits[32];
    if (!(fabs(remainder(x, unit)) <= 1e-12 * fabs(x)))
        return x;
    snprintf(digits, sizeof digits, "%.*g", DIGITS, x);
    return strtod(digits, NULL);
}

/* Rounding may leave the bounds by some units, and the ends are to read as they
 * were written; + 0.0 makes -0 a 0. */
static double real_from_unit(const struct param *param, double u)
{
    if (u <= 0 || u >= 1)
        return (u <= 0 ? param->min : param->max) + 0.0;
    return clamp(shorten(scaled_from_unit(param, u)), param->min, param->max) +
           0.0;
}

/* The cell of u among `levels` equal ones. */
static uint64_t cell(double u, uint64_t levels)
{
    double position = u * (double)levels;
    uint64_t j = position >= 0x1p64 ? UINT64_MAX : (uint64_t)position;
    return j < levels ? j : levels - 1;
}

/* The level of u on a log scale from `low` in steps. Each end reaches half a
 * step out, so that the first and last level are no rarer than their
 * neighbours; a margin that would leave the positive numbers is halved. */
static uint64_t log_cell(double low, double step, uint64_t levels, double u)
{
    double first = low - step / 2 > 0 ? low - step / 2 : low / 2;
    double last = low + ((double)levels - 0.5) * step;
    double j = floor((log_between(first, last, u) - low) / step + 0.5);
    if (!(j > 0))
        return 0;
    return j >= (double)(levels - 1) ? levels - 1 : (uint64_t)j;
}

static uint64_t level_from_unit(const struct param *param, double u)
{
    uint64_t levels = space_param_levels(param);
    bool whole = param->type == PARAM_INTEGER;
    double low = whole ? (double)param->int_min : param->min;
    double step = whole ? (double)param->int_step : param->step;
    /* Listed values are equal cells by index whatever their scale. */
    if (param->type == PARAM_DISCRETE || param->type == PARAM_CATEGORICAL)
        return cell(u, levels);
    switch (param->scale) {
    case SCALE_LINEAR:
        break;
    case SCALE_LOG:
        return log_cell(low, step, levels, u);
    case SCALE_REVERSE_LOG:
        return levels - 1 - log_cell(low, step, levels, 1 - u);
    }
    return cell(u, levels);
}

struct value space_param_from_unit(const struct param *param, double u)
{
    u = u > 0 ? (u < 1 ? u : 1) : 0; /* a NaN becomes 0 too */
    if (param->type == PARAM_DOUBLE && !(param->step > 0))
        return (struct value){.real = real_from_unit(param, u)};
    return space_param_level(param, level_from_unit(param, u));
}

/* ---- values as text ---- */

bool space_value_equal(const struct param *param, struct value a,
                       struct value b)
{
    if (a.absent || b.absent)
        return a.absent == b.absent;
    if (param->type == PARAM_DOUBLE)
        return a.real == b.real;
    return a.whole == b.whole;
}

void space_value_text(const struct param *param, struct value value,
                      struct text *out)
{
    switch (param->type) {
    case PARAM_DOUBLE:
        text_double(out, value.real + 0.0);
        break;
    case PARAM_INTEGER:
        text_printf(out, "%" PRId64, value.whole);
        break;
    case PARAM_DISCRETE:
        text_double(out, param->numbers[value.whole] + 0.0);
        break;
    case PARAM_CATEGORICAL:
        text_puts(out, param->labels[value.whole]);
        break;
    }
}

static cJSON *value_json(const struct param *param, struct value value)
{
    struct text text = {0};
    space_value_text(param, value, &text);
    cJSON *item = param->type == PARAM_CATEGORICAL
                      ? cJSON_CreateString(text.data)
                      : cJSON_CreateRaw(text.data);
    text_free(&text);
    return item;
}

void space_value_push_json(const struct param *param, struct value value,
                           cJSON *array)
{
    cJSON_AddItemToArray(array, value_json(param, value));
}

void space_value_add_json(const struct param *param, struct value value,
                          cJSON *object, const char *key)
{
    cJSON_AddItemToObject(object, key, value_json(param, value));
}

void space_levels_add_json(const struct param *param, cJSON *object,
                           const char *key)
{
    cJSON *array = json_add_array(object, key);
    for (uint64_t i = 0; i < space_param_levels(param); i++)
        space_value_push_json(param, space_param_level(param, i), array);
}

void space_condition_add_json(const struct space *space,
                              const struct condition *condition, cJSON *object,
                              const char *key)
{
    cJSON *array = json_add_array(object, key);
    for (size_t i = 0; i < condition->n; i++)
        space_value_push_json(&space->params[condition->parent],
                              condition->values[i], array);
}

void space_point_text(const struct space *space, const struct value point[],
                      struct text *out)
{
    bool first = true;
    text_puts(out, "{");
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        if (point[i].absent)
            continue;
        if (!first)
            text_puts(out, ",");
        first = false;
        quote_json(out, param->name);
        text_puts(out, ":");
        if (param->type == PARAM_CATEGORICAL)
            quote_json(out, param->labels[point[i].whole]);
        else
            space_value_text(param, point[i], out);
    }
    text_puts(out, "}");
}
