#include "algorithms/space/encoding.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "proto/base/arena.h"

/* With more levels rounding is finer than any model sees, so the coordinate
 * is continuous and its point is rounded (as in Google's Vizier). */
enum { MOST_LEVELS = 1000 };

/* From the middle of today's range, in its widths: what is further away says
 * nothing there, and numbers stay small enough to be squared. */
static const double farthest = 1000;

/* ---- positions ---- */

static double clamp_unit(double u)
{
    return u > 0 ? (u < 1 ? u : 1) : 0; /* a NaN becomes 0 */
}

/* Halves first: the width of [-1e308, 1e308] is no double. */
static double linear_position(double low, double high, double x)
{
    return (x / 2 - low / 2) / (high / 2 - low / 2);
}

static double log_position(double low, double high, double x)
{
    return (log(x) - log(low)) / (log(high) - log(low));
}

/* The same of a mirrored number, which beyond the upper end of a reverse scale
 * may have no logarithm: the slope of there leads on. */
static double mirrored_position(double low, double high, double x)
{
    return x < low ? (x - low) / low / (log(high) - log(low))
                   : log_position(low, high, x);
}

static double scaled_position(enum param_scale scale, double low, double high,
                              double x)
{
    switch (low > 0 ? scale : SCALE_LINEAR) {
    case SCALE_LINEAR:
        return linear_position(low, high, x);
    case SCALE_LOG:
        return log_position(low, high, x);
    case SCALE_REVERSE_LOG:
        return 1 - mirrored_position(low, high, low + (high - x));
    }
    return 0;
}

/* Level j of k evenly stepped ones, at the centre of its cell. On a log scale
 * each end reaches half a step out; a margin that would leave the positive
 * numbers is halved (space_param_from_unit() cuts the same cells). */
static double stepped_position(const struct param *param, double levels,
                               double j)
{
    const bool whole = param->type == PARAM_INTEGER;
    const double low = whole ? (double)param->int_min : param->min;
    const double step = whole ? (double)param->int_step : param->step;
    const double first = low - step / 2 > 0 ? low - step / 2 : low / 2;
    const double last = low + (levels - 0.5) * step;
    switch (low > 0 ? param->scale : SCALE_LINEAR) {
    case SCALE_LINEAR:
        break;
    case SCALE_LOG:
        return log_position(first, last, low + j * step);
    case SCALE_REVERSE_LOG:
        return 1 -
               mirrored_position(first, last, low + (levels - 1 - j) * step);
    }
    return (j + 0.5) / levels;
}

/* The widest gap of a list over its narrowest. */
static double unevenness(const struct param *param, enum param_scale scale)
{
    const double *v = param->numbers;
    double widest = 0, narrowest = INFINITY;
    for (size_t j = 1; j < param->n_values; j++) {
        const double gap =
            scale == SCALE_LOG ? log(v[j]) - log(v[j - 1]) : v[j] - v[j - 1];
        widest = fmax(widest, gap);
        narrowest = fmin(narrowest, gap);
    }
    return widest / narrowest;
}

static double least_listed(const struct param *param)
{
    const double today = param->numbers[0];
    return param->n_former > 0 ? fmin(today, param->numbers[param->n_values])
                               : today;
}

/* Of a list that names no scale. Whoever lists 16, 32, 64, 128 means even
 * steps, so it gets the scale on which its steps are more even. */
static enum param_scale listed_scale(const struct param *param)
{
    if (param->scale != SCALE_LINEAR || !(least_listed(param) > 0))
        return param->scale;
    return unevenness(param, SCALE_LOG) < unevenness(param, SCALE_LINEAR)
               ? SCALE_LOG
               : SCALE_LINEAR;
}

/* By value, with the margins that even levels would have. */
static double listed_position(const struct param *param, size_t j)
{
    const double low = param->numbers[0];
    const double high = param->numbers[param->n_values - 1];
    const double margin = 0.5 / (double)param->n_values;
    const double u =
        scaled_position(listed_scale(param), low, high, param->numbers[j]);
    return margin +
           (1 - 2 * margin) * (j < param->n_values ? clamp_unit(u) : u);
}

/* As uint64 a difference of two int64 always fits. */
static uint64_t whole_level(const struct param *param, struct value value)
{
    return ((uint64_t)value.whole - (uint64_t)param->int_min) /
           (uint64_t)param->int_step;
}

static double position(const struct param *param, struct value value)
{
    const double levels = (double)space_param_levels(param);
    switch (param->type) {
    case PARAM_DOUBLE:
        if (param->step > 0)
            return stepped_position(
                param, levels,
                nearbyint((value.real - param->min) / param->step));
        return scaled_position(param->scale, param->min, param->max,
                               value.real);
    case PARAM_INTEGER:
        return stepped_position(param, levels,
                                (double)whole_level(param, value));
    case PARAM_DISCRETE:
        return listed_position(param, (size_t)value.whole);
    case PARAM_CATEGORICAL:
        break;
    }
    return (double)value.whole;
}

/* ---- positions of what trials had before a change ---- */

static double number_of(const struct param *param, struct value value)
{
    return param->type == PARAM_DOUBLE    ? value.real
           : param->type == PARAM_INTEGER ? (double)value.whole
                                          : param->numbers[value.whole];
}

/* Of a constant that was none before: today's value is the middle, and the
 * unit is all that it ever was. */
static double pinned_position(const struct param *param, struct value value)
{
    const bool whole = param->type == PARAM_INTEGER;
    const struct former *former = &param->former;
    double low = whole ? (double)former->int_min : former->min;
    double high = whole ? (double)former->int_max : former->max;
    if (param->type == PARAM_DISCRETE) {
        low = least_listed(param);
        high = fmax(param->numbers[0], param->numbers[param->n_former]);
    }
    const double today = number_of(param, space_param_level(param, 0));
    return 0.5 +
           scaled_position(param->scale, low, high, number_of(param, value)) -
           scaled_position(param->scale, low, high, today);
}

static double former_position(const struct param *param, struct value value)
{
    const bool whole = param->type == PARAM_INTEGER;
    const double low = whole ? (double)param->int_min : param->min;
    const double step = whole ? (double)param->int_step : param->step;
    if (param->type == PARAM_DISCRETE || !(step > 0))
        return position(param, value);
    return stepped_position(param, (double)space_param_levels(param),
                            (number_of(param, value) - low) / step);
}

static double coordinate_position(const struct encoding *encoding, size_t c,
                                  struct value value)
{
    const struct coordinate *at = &encoding->at[c];
    const struct param *param = &encoding->space->params[at->param];
    if (at->kind == COORDINATE_CATEGORY)
        return position(param, value);
    const bool pinned = at->levels == 1;
    if (!pinned && !space_param_is_former(param, value))
        return clamp_unit(position(param, value));
    const double u =
        pinned ? pinned_position(param, value) : former_position(param, value);
    const double bounded = fmin(fmax(u, -farthest), farthest);
    return bounded == COORDINATE_ABSENT ? nextafter(bounded, 0) : bounded;
}

/* ---- making one ---- */

static enum coordinate_kind kind_of(const struct param *param)
{
    const uint64_t levels = space_param_levels(param);
    if (param->type == PARAM_CATEGORICAL)
        return COORDINATE_CATEGORY;
    if (param->type == PARAM_DISCRETE || (levels > 0 && levels <= MOST_LEVELS))
        return COORDINATE_ORDINAL;
    return COORDINATE_CONTINUOUS;
}

static void add_coordinate(struct encoding *encoding, size_t i)
{
    const struct param *param = &encoding->space->params[i];
    struct coordinate *at = &encoding->at[encoding->dim];
    *at = (struct coordinate){.kind = kind_of(param),
                              .conditional =
                                  param->when != NULL || encoding->space->open,
                              .param = i};
    if (at->kind == COORDINATE_CONTINUOUS)
        encoding->continuous = true;
    else
        at->levels = (size_t)space_param_levels(param);
    encoding->dim++;
}

static void list_positions(struct encoding *encoding)
{
    size_t n = 0;
    for (size_t c = 0; c < encoding->dim; c++)
        if (encoding->at[c].kind == COORDINATE_ORDINAL)
            n += encoding->at[c].levels;
    encoding->positions = ht_xcalloc(n + 1, sizeof *encoding->positions);
    double *next = encoding->positions;
    for (size_t c = 0; c < encoding->dim; c++) {
        struct coordinate *at = &encoding->at[c];
        const struct param *param = &encoding->space->params[at->param];
        if (at->kind != COORDINATE_ORDINAL)
            continue;
        at->positions = next;
        for (size_t j = 0; j < at->levels; j++)
            *next++ =
                coordinate_position(encoding, c, space_param_level(param, j));
    }
}

static double usual(const struct encoding *encoding, size_t c)
{
    const struct coordinate *at = &encoding->at[c];
    const struct param *param = &encoding->space->params[at->param];
    if (param->has_default)
        return coordinate_position(encoding, c, param->fallback);
    if (at->kind == COORDINATE_CATEGORY)
        return 0;
    return encoding_draw(encoding, c, 0.5);
}

void encoding_init(struct encoding *encoding, const struct space *space)
{
    *encoding = (struct encoding){.space = space, .flat = space_is_flat(space)};
    for (size_t i = 0; i < space->n; i++)
        if (space_param_levels(&space->params[i]) != 1 ||
            space_param_has_former(&space->params[i]))
            add_coordinate(encoding, i);
    list_positions(encoding);
    for (size_t c = 0; c < encoding->dim; c++)
        encoding->at[c].usual = usual(encoding, c);
}

void encoding_fini(struct encoding *encoding)
{
    free(encoding->positions);
}

struct encoding encoding_within(const struct encoding *encoding,
                                const struct subspace *part)
{
    struct encoding within = *encoding;
    within.part = part;
    return within;
}

/* ---- there and back ---- */

void encoding_encode(const struct encoding *encoding,
                     const struct value point[], double x[])
{
    for (size_t c = 0; c < encoding->dim; c++) {
        const struct value value = point[encoding->at[c].param];
        x[c] = value.absent ? COORDINATE_ABSENT
                            : coordinate_position(encoding, c, value);
    }
}

double encoding_level(const struct encoding *encoding, size_t c, size_t j)
{
    const struct coordinate *at = &encoding->at[c];
    return at->kind == COORDINATE_ORDINAL ? at->positions[j] : (double)j;
}

size_t encoding_level_of(const struct encoding *encoding, size_t c, double u)
{
    const struct coordinate *at = &encoding->at[c];
    if (at->kind == COORDINATE_CATEGORY)
        return (size_t)(u < (double)at->levels ? u : at->usual);
    size_t low = 0, high = at->levels;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (at->positions[middle] > u)
            high = middle;
        else
            low = middle;
    }
    return high < at->levels && at->positions[high] - u < u - at->positions[low]
               ? high
               : low;
}

double encoding_draw(const struct encoding *encoding, size_t c, double u)
{
    const struct coordinate *at = &encoding->at[c];
    if (at->kind == COORDINATE_CONTINUOUS)
        return u;
    const struct param *param = &encoding->space->params[at->param];
    return coordinate_position(encoding, c, space_param_from_unit(param, u));
}

static struct value value_at(const struct encoding *encoding, size_t c,
                             double u)
{
    const struct coordinate *at = &encoding->at[c];
    const struct param *param = &encoding->space->params[at->param];
    if (u == COORDINATE_ABSENT)
        u = at->usual; /* stays where space_settle() takes it away */
    if (at->kind != COORDINATE_CONTINUOUS)
        return space_param_level(param, encoding_level_of(encoding, c, u));
    if (u == at->usual && param->has_default)
        return param->fallback; /* as it was written, to the last digit */
    return space_param_from_unit(param, u);
}

void encoding_decode(const struct encoding *encoding, const double x[],
                     struct value point[])
{
    const struct space *space = encoding->space;
    for (size_t i = 0; i < space->n; i++)
        if (space_param_levels(&space->params[i]) == 1)
            point[i] = space_param_level(&space->params[i], 0);
    for (size_t c = 0; c < encoding->dim; c++)
        point[encoding->at[c].param] = value_at(encoding, c, x[c]);
    subspace_settle(space, encoding->part, point);
}

void encoding_settle(const struct encoding *encoding, const double fill[],
                     double x[])
{
    const struct subspace *part = encoding->part;
    if (encoding->flat && part == NULL)
        return;
    struct value point[HT_MAX_PARAMETERS];
    for (size_t c = 0; c < encoding->dim; c++)
        if (x[c] == COORDINATE_ABSENT)
            x[c] = fill[c];
    encoding_decode(encoding, x, point);
    for (size_t c = 0; c < encoding->dim; c++) {
        const size_t i = encoding->at[c].param;
        if (point[i].absent)
            x[c] = COORDINATE_ABSENT;
        else if (part != NULL && part->at[i].n > 0)
            x[c] = coordinate_position(encoding, c, point[i]);
    }
}

void encoding_enter(const struct encoding *encoding, double x[])
{
    double usual[HT_MAX_PARAMETERS];
    if (encoding->part == NULL)
        return;
    for (size_t c = 0; c < encoding->dim; c++)
        usual[c] = encoding->at[c].usual;
    encoding_settle(encoding, usual, x);
}

void encoding_return(const struct encoding *encoding, double x[])
{
    struct value point[HT_MAX_PARAMETERS];
    encoding_decode(encoding, x, point);
    encoding_encode(encoding, point, x);
}

bool encoding_is_free(const struct encoding *encoding, size_t c)
{
    return encoding->at[c].levels != 1 &&
           subspace_leaves(encoding->part, encoding->at[c].param);
}

size_t encoding_list_free(const struct encoding *encoding, size_t list[])
{
    size_t n = 0;
    for (size_t c = 0; c < encoding->dim; c++)
        if (encoding_is_free(encoding, c))
            list[n++] = c;
    return n;
}
