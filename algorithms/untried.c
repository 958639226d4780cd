#include "algorithms/untried.h"

#include "algorithms/finite.h"
#include "algorithms/rng.h"
#include "proto/limits.h"

/* Redraws before a small space is searched point by point. With half of it
 * taken, 64 misses in a row have a chance of 5e-20. */
enum { DRAWS = 64 };

static bool draw_free(const struct space *space, uint64_t seed,
                      const struct suggest_request *request,
                      struct value point[])
{
    struct rng_place place = {seed, request->ordinal, RNG_UNTRIED};
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
static bool pick_free(const struct space *space, uint64_t seed,
                      const struct suggest_request *request,
                      struct value point[])
{
    const struct taken *taken = request->taken;
    const uint64_t size = space_size(space);
    uint64_t n = 0, index = finite_next_free(space, taken, 0, size);
    for (; index < size; n++)
        index = finite_next_free(space, taken, index + 1, size);
    if (n == 0)
        return false;
    const struct rng_place place = {seed, request->ordinal, DRAWS};
    uint64_t skip = (uint64_t)(rng_unit(&place, 0) * (double)n);
    index = finite_next_free(space, taken, 0, size);
    while (skip-- > 0)
        index = finite_next_free(space, taken, index + 1, size);
    finite_point(space, index, point);
    return true;
}

enum ht_status untried_draw(const struct space *space, uint64_t seed,
                            const struct suggest_request *request,
                            struct value point[], struct ht_error *err)
{
    struct value found[HT_MAX_PARAMETERS];
    const uint64_t size = space_size(space);
    const bool all_taken = size > 0 && request->taken->n >= size;
    const bool countable = size > 0 && size <= HT_MAX_GRID;
    if (!all_taken && (draw_free(space, seed, request, found) ||
                       (countable && pick_free(space, seed, request, found)))) {
        for (size_t i = 0; i < space->n; i++)
            point[i] = found[i];
        return HT_OK;
    }
    if (all_taken || countable)
        return ht_fail(err, HT_EXHAUSTED,
                       "all %llu points of the search space were tried",
                       (unsigned long long)size);
    return ht_fail(err, HT_EXHAUSTED,
                   "%d random points in a row were tried before", DRAWS);
}
