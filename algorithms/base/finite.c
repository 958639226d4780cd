#include "algorithms/base/finite.h"

#include "proto/base/limits.h"

void finite_point(const struct space *space, const struct subspace *part,
                  uint64_t index, struct value point[])
{
    for (size_t i = space->n; i-- > 0;) {
        const uint64_t levels = subspace_levels(space, part, i);
        point[i] = subspace_level(space, part, i, index % levels);
        index /= levels;
    }
    space_settle(space, point);
}

uint64_t finite_next_free(const struct space *space,
                          const struct suggest_request *request, uint64_t from,
                          uint64_t to)
{
    struct value point[HT_MAX_PARAMETERS];
    for (uint64_t i = from; i < to; i++) {
        finite_point(space, request->within, i, point);
        if (algorithm_request_allows(request, point))
            return i;
    }
    return to;
}
