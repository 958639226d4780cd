#include "tests/lib/taken_set.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/base/arena.h"

static bool is_below(const struct param *param, struct value a, struct value b)
{
    return param->type == PARAM_DOUBLE ? a.real < b.real : a.whole < b.whole;
}

/* Levels increase with their number, so halving finds one in 20 steps even
 * among a million. */
static uint64_t level_index(const struct param *param, struct value value)
{
    uint64_t low = 0, high = space_param_levels(param);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (is_below(param, value, space_param_level(param, middle)))
            high = middle;
        else
            low = middle;
    }
    assert(space_value_equal(param, value, space_param_level(param, low)));
    return low;
}

uint64_t point_index(const struct space *space, const struct value point[])
{
    uint64_t index = 0;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        index =
            index * space_param_levels(param) + level_index(param, point[i]);
    }
    return index;
}

static bool has_mark(void *context, const struct value point[])
{
    const struct taken_set *set = context;
    return set->marks[point_index(set->space, point)] != 0;
}

void taken_set_init(struct taken_set *set, const struct space *space)
{
    set->space = space;
    set->size = space_size(space);
    set->marks = ht_xcalloc(set->size, 1);
    set->taken = (struct taken){has_mark, set, 0};
}

void taken_set_fini(struct taken_set *set)
{
    free(set->marks);
}

bool taken_set_add(struct taken_set *set, const struct value point[])
{
    unsigned char *mark = &set->marks[point_index(set->space, point)];
    bool was_free = *mark == 0;
    *mark = 1;
    set->taken.n += was_free;
    return was_free;
}

static bool has_none(void *context, const struct value point[])
{
    (void)context, (void)point;
    return false;
}

const struct taken taken_nothing = {has_none, NULL, 0};
