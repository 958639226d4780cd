/* space_read.c - points from documents: values read and checked against their
 * parameters. */

#include "proto/space/space.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/diag.h"

/* ---- values from text ---- */

static enum ht_status out_of_range(const struct param *param, double x,
                                   struct ht_error *err)
{
    char is[TEXT_DOUBLE_BYTES], low[TEXT_DOUBLE_BYTES], high[TEXT_DOUBLE_BYTES];
    return ht_fail(err, HT_INVALID, "%s is outside [%s, %s]",
                   text_of_double(is, x), text_of_double(low, param->min),
                   text_of_double(high, param->max));
}

static enum ht_status read_real(const struct param *param,
                                const struct node *node, struct value *value,
                                struct ht_error *err)
{
    double x;
    char is[TEXT_DOUBLE_BYTES];
    if (!node_double(node, &x))
        return ht_fail(err, HT_INVALID, "needs a number");
    if (x < param->min || x > param->max)
        return out_of_range(param, x, err);
    if (param->step > 0) {
        uint64_t j = (uint64_t)((x - param->min) / param->step + 0.5);
        uint64_t levels = space_param_levels(param);
        double level =
            space_param_level(param, j < levels ? j : levels - 1).real;
        if (fabs(x - level) > param->step * 1e-6)
            return ht_fail(err, HT_INVALID, "%s is between two steps",
                           text_of_double(is, x));
        x = level;
    }
    value->real = x + 0.0;
    return HT_OK;
}

static enum ht_status read_whole(const struct param *param,
                                 const struct node *node, struct value *value,
                                 struct ht_error *err)
{
    int64_t whole;
    if (!node_int64(node, &whole))
        return ht_fail(err, HT_INVALID, "needs a whole number");
    if (whole < param->int_min || whole > param->int_max)
        return ht_fail(err, HT_INVALID,
                       "%" PRId64 " is outside [%" PRId64 ", %" PRId64 "]",
                       whole, param->int_min, param->int_max);
    uint64_t above = (uint64_t)whole - (uint64_t)param->int_min;
    if (above % (uint64_t)param->int_step != 0)
        return ht_fail(err, HT_INVALID, "%" PRId64 " is between two steps",
                       whole);
    value->whole = whole;
    return HT_OK;
}

size_t space_nearest(const struct param *param, double x)
{
    size_t best = 0;
    for (size_t i = 1; i < param->n_values; i++)
        if (fabs(param->numbers[i] - x) < fabs(param->numbers[best] - x))
            best = i;
    return best;
}

/* Google matches discrete values within 1e-10. */
static enum ht_status read_discrete(const struct param *param,
                                    const struct node *node,
                                    struct value *value, struct ht_error *err)
{
    double x;
    char is[TEXT_DOUBLE_BYTES];
    if (!node_double(node, &x))
        return ht_fail(err, HT_INVALID, "needs a number");
    const size_t best = space_nearest(param, x);
    if (fabs(param->numbers[best] - x) > 1e-10)
        return ht_fail(err, HT_INVALID, "%s is not one of its values",
                       text_of_double(is, x));
    value->whole = (int64_t)best;
    return HT_OK;
}

static enum ht_status read_category(const struct param *param,
                                    const struct node *node,
                                    struct value *value, struct ht_error *err)
{
    if (node->text == NULL || node->kind == NODE_NULL)
        return ht_fail(err, HT_INVALID, "needs a text");
    for (size_t i = 0; i < param->n_values; i++) {
        if (strcmp(param->labels[i], node->text) == 0) {
            value->whole = (int64_t)i;
            return HT_OK;
        }
    }
    return ht_fail(err, HT_INVALID, "\"%.64s\" is not one of its values",
                   node->text);
}

enum ht_status space_param_read(const struct param *param,
                                const struct node *node, struct value *value,
                                struct ht_error *err)
{
    *value = (struct value){0};
    switch (param->type) {
    case PARAM_DOUBLE:
        return read_real(param, node, value, err);
    case PARAM_INTEGER:
        return read_whole(param, node, value, err);
    case PARAM_DISCRETE:
        return read_discrete(param, node, value, err);
    case PARAM_CATEGORICAL:
        return read_category(param, node, value, err);
    }
    return ht_fail(err, HT_INTERNAL, "no type");
}

/* ---- former values ---- */

static bool is_former_value(const struct param *param, const struct node *node,
                            size_t i)
{
    double x;
    if (param->type == PARAM_CATEGORICAL)
        return node->text && strcmp(param->labels[i], node->text) == 0;
    return node_double(node, &x) && fabs(param->numbers[i] - x) <= 1e-10;
}

static bool read_former(const struct param *param, const struct node *node,
                        struct value *value)
{
    const struct former *former = &param->former;
    double x;
    if (param->type == PARAM_DOUBLE) {
        if (!former->has_range || !node_double(node, &x) || x < former->min ||
            x > former->max)
            return false;
        value->real = x + 0.0;
        return true;
    }
    if (param->type == PARAM_INTEGER)
        return former->has_range && node_int64(node, &value->whole) &&
               value->whole >= former->int_min &&
               value->whole <= former->int_max;
    for (size_t i = 0; i < param->n_former; i++) {
        value->whole = (int64_t)(param->n_values + i);
        if (is_former_value(param, node, param->n_values + i))
            return true;
    }
    return false;
}

/* ---- points from text ---- */

/* Whose point it is: only that of a trial may have former values. */
enum owner { OWNER_CLIENT, OWNER_TRIAL };

static enum ht_status read_named(const struct param *param,
                                 const struct node *node, enum owner owner,
                                 struct value *value, struct ht_error *err)
{
    const enum ht_status status = space_param_read(param, node, value, err);
    if (status == HT_OK ||
        (owner == OWNER_TRIAL && read_former(param, node, value)))
        return HT_OK;
    return ht_wrap(err, status, "parameter %s", param->name);
}

/* From parents to children, whatever their order: a name is that of the
 * parameter which exists by what is known so far. */
static enum ht_status read_active(const struct space *space,
                                  const struct node *map, enum owner owner,
                                  struct value point[], struct ht_error *err)
{
    bool more = true;
    while (more) {
        more = false;
        for (const struct node *node = map->first; node; node = node->next) {
            const int i = space_find_active(space, point, node->key);
            if (i < 0 || !point[i].absent)
                continue;
            const enum ht_status status =
                read_named(&space->params[i], node, owner, &point[i], err);
            if (status != HT_OK)
                return status;
            more = true;
        }
    }
    return HT_OK;
}

/* A value is given exactly where the conditions hold. */
static enum ht_status check_presence(const struct space *space,
                                     const struct node *map,
                                     const struct value point[],
                                     struct ht_error *err)
{
    for (size_t i = 0; i < space->n; i++)
        if (!space->open && point[i].absent && space_active(space, point, i))
            return ht_fail(err, HT_INVALID, "parameter %s is missing",
                           space->params[i].name);
    for (const struct node *node = map->first; node; node = node->next)
        if (space_find_active(space, point, node->key) < 0)
            return ht_fail(err, HT_INVALID,
                           "parameter %s has a value although its conditions "
                           "do not hold",
                           node->key);
    return HT_OK;
}

static enum ht_status read_point(const struct space *space,
                                 const struct node *map, enum owner owner,
                                 struct value point[], struct ht_error *err)
{
    if (map == NULL || map->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "parameters must be an object");
    for (const struct node *node = map->first; node; node = node->next)
        if (space_find(space, node->key) < 0)
            return ht_fail(err, HT_INVALID, "unknown parameter %.64s",
                           node->key);
    /* Read aside, so that a failure leaves the caller's point as it was. */
    struct value *read = ht_xcalloc(space->n + 1, sizeof *read);
    for (size_t i = 0; i < space->n; i++)
        read[i].absent = true;
    enum ht_status status = read_active(space, map, owner, read, err);
    if (status == HT_OK)
        status = check_presence(space, map, read, err);
    if (status == HT_OK && space->n > 0)
        memcpy(point, read, space->n * sizeof *read);
    free(read);
    return status;
}

enum ht_status space_point_read(const struct space *space,
                                const struct node *map, struct value point[],
                                struct ht_error *err)
{
    return read_point(space, map, OWNER_CLIENT, point, err);
}

enum ht_status space_point_restore(const struct space *space,
                                   const struct node *map, struct value point[],
                                   struct ht_error *err)
{
    return read_point(space, map, OWNER_TRIAL, point, err);
}

enum ht_status space_point_parse(const struct space *space, const char *json,
                                 struct value point[], struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct diag diag;
    size_t len = strlen(json);
    diag_init(&diag, arena, "point", json, len);
    const struct node *map = node_read_json(arena, json, len, &diag);
    enum ht_status status =
        map ? space_point_restore(space, map, point, err)
            : ht_fail(err, HT_INVALID, "parameters: %s",
                      diag.first ? diag.first->text : "not JSON");
    arena_free(arena);
    return status;
}
