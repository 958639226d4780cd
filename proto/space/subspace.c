/* subspace.c - the part of a space whose points have some values given. */

#include "proto/space/space.h"

#include <math.h>

#include "proto/base/limits.h"

/* ---- making one ---- */

struct making {
    struct arena *arena;
    struct subspace *part;
    bool seen[HT_MAX_PARAMETERS]; /* its parents are narrowed already */
};

static bool is_among(const struct param *param, struct value value, size_t n,
                     const struct value values[])
{
    for (size_t i = 0; i < n; i++)
        if (space_value_equal(param, value, values[i]))
            return true;
    return false;
}

/* Leaves what the condition has as well; false when that is nothing. */
static bool narrow(struct making *making, const struct condition *condition)
{
    struct narrowing *at = &making->part->at[condition->parent];
    const struct param *param = &making->part->space->params[condition->parent];
    struct value *values =
        arena_alloc(making->arena, condition->n + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < condition->n; i++)
        if (at->n == 0 ||
            is_among(param, condition->values[i], at->n, at->values))
            values[n++] = condition->values[i];
    *at = (struct narrowing){n, values};
    return n > 0;
}

/* Narrows the ancestors so that parameter i exists. */
static enum ht_status require(struct making *making, size_t i,
                              struct ht_error *err)
{
    const struct param *param = &making->part->space->params[i];
    if (making->seen[i])
        return HT_OK;
    making->seen[i] = true;
    for (const struct condition *c = param->when; c != NULL; c = c->next) {
        if (!narrow(making, c))
            return ht_fail(err, HT_INVALID,
                           "\"%.64s\" exists only beside other values of "
                           "\"%.64s\"",
                           param->name,
                           making->part->space->params[c->parent].name);
        const enum ht_status status = require(making, c->parent, err);
        if (status != HT_OK)
            return status;
    }
    return HT_OK;
}

enum ht_status subspace_make(struct arena *arena, const struct space *space,
                             const struct value given[], struct subspace *part,
                             size_t *at, struct ht_error *err)
{
    struct subspace made = {.space = space};
    struct making making = {.arena = arena, .part = &made};
    made.at = arena_alloc(arena, space->n + 1, sizeof *made.at);
    for (size_t i = 0; i < space->n; i++)
        if (!given[i].absent) {
            struct value *value = arena_alloc(arena, 1, sizeof *value);
            *value = given[i];
            made.at[i] = (struct narrowing){1, value};
        }
    for (size_t i = 0; i < space->n; i++) {
        const enum ht_status status =
            given[i].absent ? HT_OK : require(&making, i, err);
        if (status != HT_OK) {
            *at = i;
            return status;
        }
    }
    *part = made;
    return HT_OK;
}

/* ---- points in it ---- */

bool subspace_has(const struct subspace *part, const struct value point[])
{
    for (size_t i = 0; part != NULL && i < part->space->n; i++) {
        const struct narrowing *at = &part->at[i];
        if (at->n > 0 &&
            (point[i].absent ||
             !is_among(&part->space->params[i], point[i], at->n, at->values)))
            return false;
    }
    return true;
}

/* A constant exists only where its conditions hold by what is known. */
bool subspace_common(const struct subspace *part, struct value point[])
{
    const struct space *space = part->space;
    bool whole = true;
    for (size_t i = 0; i < space->n; i++)
        point[i] = part->at[i].n == 1 ? part->at[i].values[0]
                                      : (struct value){.absent = true};
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < space->n; i++)
            if (point[i].absent && part->at[i].n == 0 &&
                space_param_levels(&space->params[i]) == 1 &&
                space_active(space, point, i)) {
                point[i] = space_param_level(&space->params[i], 0);
                more = true;
            }
    }
    for (size_t i = 0; i < space->n; i++)
        whole = whole && (!point[i].absent || !space_active(space, point, i));
    return whole;
}

/* A number of a value that tells a finite parameter's levels apart. */
static uint64_t number_of(const struct param *param, struct value value)
{
    return param->type == PARAM_DOUBLE
               ? (uint64_t)llround((value.real - param->min) / param->step)
               : (uint64_t)value.whole;
}

void subspace_settle(const struct space *space, const struct subspace *part,
                     struct value point[])
{
    for (size_t i = 0; part != NULL && i < space->n; i++) {
        const struct param *param = &space->params[i];
        const struct narrowing *at = &part->at[i];
        point[i].absent = false;
        if (at->n == 1)
            point[i] = at->values[0];
        else if (at->n > 1 && !is_among(param, point[i], at->n, at->values))
            point[i] = at->values[number_of(param, point[i]) % at->n];
    }
    space_settle(space, point);
}

bool subspace_leaves(const struct subspace *part, size_t i)
{
    return part == NULL || part->at[i].n != 1;
}

/* ---- levels ---- */

uint64_t subspace_levels(const struct space *space, const struct subspace *part,
                         size_t i)
{
    return part != NULL && part->at[i].n > 0
               ? part->at[i].n
               : space_param_levels(&space->params[i]);
}

struct value subspace_level(const struct space *space,
                            const struct subspace *part, size_t i, uint64_t j)
{
    return part != NULL && part->at[i].n > 0
               ? part->at[i].values[j]
               : space_param_level(&space->params[i], j);
}

uint64_t subspace_size(const struct space *space, const struct subspace *part)
{
    const uint64_t most = (uint64_t)1 << 63;
    uint64_t size = 1;
    for (size_t i = 0; i < space->n; i++) {
        const uint64_t levels = subspace_levels(space, part, i);
        if (levels == 0 || size > most / levels)
            return 0;
        size *= levels;
    }
    return size;
}

void subspace_point(const struct space *space, const struct subspace *part,
                    uint64_t index, struct value point[])
{
    for (size_t i = space->n; i-- > 0;) {
        const uint64_t levels = subspace_levels(space, part, i);
        point[i] = subspace_level(space, part, i, index % levels);
        index /= levels;
    }
    space_settle(space, point);
}
