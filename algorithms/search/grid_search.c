/* grid_search.c - every point once, in order, the last parameter changing
 * fastest. */

#include <math.h>
#include <stdlib.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/space/untried.h"
#include "proto/base/arena.h"
#include "proto/base/limits.h"

struct grid_state {
    const struct space *space; /* borrowed; 1..HT_MAX_GRID points */
};

static enum ht_status refuse_continuous(const struct space *space,
                                        struct ht_error *err)
{
    for (size_t i = 0; i < space->n; i++) {
        if (space_param_levels(&space->params[i]) == 0)
            return ht_fail(err, HT_INVALID,
                           "GRID_SEARCH cannot list the values of \"%s\", it "
                           "is continuous: give it a step or a list of values",
                           space->params[i].name);
    }
    return HT_OK;
}

static enum ht_status grid_new(const struct setting *setting, void **state,
                               struct ht_error *err)
{
    const struct space *space = setting->space;
    if (space->n > HT_MAX_PARAMETERS)
        return ht_fail(err, HT_INVALID,
                       "GRID_SEARCH: %zu parameters, at most %d", space->n,
                       HT_MAX_PARAMETERS);
    enum ht_status status = refuse_continuous(space, err);
    if (status != HT_OK)
        return status;
    uint64_t size = space_size(space);
    if (size == 0 || size > HT_MAX_GRID)
        return ht_fail(err, HT_INVALID,
                       "GRID_SEARCH visits at most %d points and this space "
                       "has more: use fewer values or another algorithm",
                       HT_MAX_GRID);
    struct grid_state *grid = ht_xcalloc(1, sizeof *grid);
    grid->space = space;
    *state = grid;
    return HT_OK;
}

static enum ht_status grid_observe(void *state, const struct observation *seen,
                                   struct ht_error *err)
{
    (void)state, (void)seen, (void)err;
    return HT_OK; /* results do not steer it */
}

static void grid_forget(void *state)
{
    (void)state;
}

static enum ht_status grid_suggest(void *state,
                                   const struct suggest_request *request,
                                   struct value point[], struct reason *reason,
                                   struct ht_error *err)
{
    const struct grid_state *grid = state;
    *reason = (struct reason){.kind = REASON_DRAWN, .acquisition = NAN};
    /* Starts at the ordinal's own point, so a study of many trials does not
     * ask for each point again from the first. Points before it can be free
     * when an earlier suggestion was dropped: the second turn takes them. */
    const uint64_t size = subspace_size(grid->space, request->within);
    const uint64_t start = request->ordinal % size;
    uint64_t index = algorithm_request_next(grid->space, request, start, size);
    if (index == size) {
        index = algorithm_request_next(grid->space, request, 0, start);
        if (index == start)
            return untried_none(grid->space, request, err);
    }
    subspace_point(grid->space, request->within, index, point);
    return HT_OK;
}

const struct algorithm grid_search = {
    .name = "GRID_SEARCH",
    .new = grid_new,
    .observe = grid_observe,
    .forget = grid_forget,
    .suggest = grid_suggest,
    .free = free,
};
