/* random_search.c - each suggestion is a draw of algorithms/space/untried.h,
 * which no result changes. */

#include <math.h>
#include <stdlib.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/space/untried.h"
#include "proto/base/arena.h"
#include "proto/base/limits.h"

struct random_state {
    const struct space *space; /* borrowed */
    uint64_t seed;
};

static enum ht_status random_new(const struct setting *setting, void **state,
                                 struct ht_error *err)
{
    const struct space *space = setting->space;
    if (space->n > HT_MAX_PARAMETERS)
        return ht_fail(err, HT_INVALID,
                       "RANDOM_SEARCH: %zu parameters, at most %d", space->n,
                       HT_MAX_PARAMETERS);
    struct random_state *random = ht_xcalloc(1, sizeof *random);
    random->space = space;
    random->seed = setting->seed;
    *state = random;
    return HT_OK;
}

static enum ht_status random_observe(void *state,
                                     const struct observation *seen,
                                     struct ht_error *err)
{
    (void)state, (void)seen, (void)err;
    return HT_OK; /* results do not steer it */
}

static void random_forget(void *state)
{
    (void)state;
}

static enum ht_status random_suggest(void *state,
                                     const struct suggest_request *request,
                                     struct value point[],
                                     struct reason *reason,
                                     struct ht_error *err)
{
    const struct random_state *random = state;
    *reason = (struct reason){.kind = REASON_DRAWN, .acquisition = NAN};
    return untried_draw(random->space, random->seed, request, point, err);
}

const struct algorithm random_search = {
    .name = "RANDOM_SEARCH",
    .new = random_new,
    .observe = random_observe,
    .forget = random_forget,
    .suggest = random_suggest,
    .free = free,
};
