/* Uniform draws over the scaled space; the k-th suggestion depends on the
 * seed, k and what is taken, never on results. */
#include <stdlib.h>

#include "algorithms/algorithm.h"
#include "algorithms/finite.h"
#include "algorithms/rng.h"
#include "proto/arena.h"
#include "proto/limits.h"

/* Redraws before a small space is searched point by point. With half of it
 * taken, 64 misses in a row have a chance of 5e-20. */
enum { DRAWS = 64 };

struct random_state {
    const struct space *space; /* borrowed */
    uint64_t seed;
    uint64_t size; /* points of the space, 0: continuous or beyond 2^63 */
};

static enum ht_status random_new(const struct space *space, uint64_t seed,
                                 void **state, struct ht_error *err)
{
    if (space->n > HT_MAX_PARAMETERS)
        return ht_fail(err, HT_INVALID,
                       "RANDOM_SEARCH: %zu parameters, at most %d", space->n,
                       HT_MAX_PARAMETERS);
    struct random_state *random = ht_xcalloc(1, sizeof *random);
    random->space = space;
    random->seed = seed;
    random->size = space_size(space);
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

static bool draw_free(const struct random_state *random,
                      const struct suggest_request *request,
                      struct value point[])
{
    const struct space *space = random->space;
    struct rng_place place = {random->seed, request->ordinal, 0};
    for (; place.draw < DRAWS; place.draw++) {
        for (size_t i = 0; i < space->n; i++)
            point[i] = param_from_unit(&space->params[i], rng_unit(&place, i));
        space_settle(space, point);
        if (!request->taken->has(request->taken->context, point))
            return true;
    }
    return false;
}

/* One of the free points, each with the same chance: the r-th in order. They
 * are counted here, so that a wrong taken->n cannot send it past the end. */
static bool pick_free(const struct random_state *random,
                      const struct suggest_request *request,
                      struct value point[])
{
    const struct space *space = random->space;
    const struct taken *taken = request->taken;
    const uint64_t size = random->size;
    uint64_t n = 0, index = finite_next_free(space, taken, 0, size);
    for (; index < size; n++)
        index = finite_next_free(space, taken, index + 1, size);
    if (n == 0)
        return false;
    const struct rng_place place = {random->seed, request->ordinal, DRAWS};
    uint64_t skip = (uint64_t)(rng_unit(&place, 0) * (double)n);
    index = finite_next_free(space, taken, 0, size);
    while (skip-- > 0)
        index = finite_next_free(space, taken, index + 1, size);
    finite_point(space, index, point);
    return true;
}

static enum ht_status random_suggest(void *state,
                                     const struct suggest_request *request,
                                     struct value point[], struct ht_error *err)
{
    const struct random_state *random = state;
    const size_t n = random->space->n;
    struct value found[HT_MAX_PARAMETERS];
    bool all_taken = random->size > 0 && request->taken->n >= random->size;
    bool countable = random->size > 0 && random->size <= HT_MAX_GRID;
    if (!all_taken && (draw_free(random, request, found) ||
                       (countable && pick_free(random, request, found)))) {
        for (size_t i = 0; i < n; i++)
            point[i] = found[i];
        return HT_OK;
    }
    if (all_taken || countable)
        return ht_fail(err, HT_EXHAUSTED,
                       "all %llu points of the search space were tried",
                       (unsigned long long)random->size);
    return ht_fail(err, HT_EXHAUSTED,
                   "%d random points in a row were tried before", DRAWS);
}

const struct algorithm random_search = {
    .name = "RANDOM_SEARCH",
    .new = random_new,
    .observe = random_observe,
    .suggest = random_suggest,
    .free = free,
};
