#include "algorithms/finite.h"

#include <assert.h>

#include "proto/limits.h"

void finite_point(const struct space *space, uint64_t index,
                  struct value point[])
{
    for (size_t i = space->n; i-- > 0;) {
        const struct param *param = &space->params[i];
        uint64_t levels = param_levels(param);
        point[i] = param_level(param, index % levels);
        index /= levels;
    }
    space_settle(space, point);
}

static bool is_below(const struct param *param, struct value a, struct value b)
{
    return param->type == PARAM_DOUBLE ? a.real < b.real : a.whole < b.whole;
}

/* Levels increase with their number, so halving finds one in 20 steps even
 * among a million. */
static uint64_t level_index(const struct param *param, struct value value)
{
    uint64_t low = 0, high = param_levels(param);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (is_below(param, value, param_level(param, middle)))
            high = middle;
        else
            low = middle;
    }
    assert(value_equal(param, value, param_level(param, low)));
    return low;
}

uint64_t finite_index(const struct space *space, const struct value point[])
{
    uint64_t index = 0;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        index = index * param_levels(param) + level_index(param, point[i]);
    }
    return index;
}

uint64_t finite_next_free(const struct space *space,
                          const struct suggest_request *request, uint64_t from,
                          uint64_t to)
{
    struct value point[HT_MAX_PARAMETERS];
    for (uint64_t i = from; i < to; i++) {
        finite_point(space, i, point);
        if (request_allows(request, point))
            return i;
    }
    return to;
}
