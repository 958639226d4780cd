#include "algorithms/space/untried.h"

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "algorithms/space/encoding.h"
#include "algorithms/space/inside.h"
#include "proto/base/limits.h"

enum {
    /* Redraws before a small space is searched point by point. With half of
     * it taken, 64 misses in a row have a chance of 5e-20. */
    DRAWS = 64,
    /* Where constraints apply, before ways to what they allow are sought. */
    CONSTRAINED_DRAWS = 1000,
    WAYS = 16,    /* sought */
    PICKED = 1023 /* draw of the choice among the free points */
};

static bool draw_free(const struct space *space, uint64_t seed,
                      const struct suggest_request *request,
                      struct value point[])
{
    struct rng_place place = {seed, request->ordinal, RNG_UNTRIED};
    const uint64_t draws = request->constraints ? CONSTRAINED_DRAWS : DRAWS;
    for (; place.draw < draws; place.draw++) {
        for (size_t i = 0; i < space->n; i++)
            point[i] =
                space_param_from_unit(&space->params[i], rng_unit(&place, i));
        subspace_settle(space, request->within, point);
        if (algorithm_request_allows(request, point))
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
    const uint64_t size = subspace_size(space, request->within);
    uint64_t n = 0, index = algorithm_request_next(space, request, 0, size);
    for (; index < size; n++)
        index = algorithm_request_next(space, request, index + 1, size);
    if (n == 0)
        return false;
    const struct rng_place place = {seed, request->ordinal, PICKED};
    uint64_t skip = (uint64_t)(rng_unit(&place, 0) * (double)n);
    index = algorithm_request_next(space, request, 0, size);
    while (skip-- > 0)
        index = algorithm_request_next(space, request, index + 1, size);
    subspace_point(space, request->within, index, point);
    return true;
}

/* A point at the end of a way, shaken so that not all are at the edge. */
static bool reach_one(const struct encoding *encoding, struct rng_place place,
                      const struct suggest_request *request,
                      struct value point[])
{
    double x[HT_MAX_PARAMETERS], usual[HT_MAX_PARAMETERS];
    const struct inside inside = {encoding, request->constraints, usual};
    for (size_t c = 0; c < encoding->dim; c++) {
        usual[c] = encoding->at[c].usual;
        x[c] = encoding_draw(encoding, c, rng_unit(&place, c));
    }
    encoding_settle(encoding, usual, x);
    place.draw += WAYS;
    if (!inside_reach(&inside, &place, x))
        return false;
    place.draw += WAYS;
    inside_shake(&inside, &place, x);
    encoding_decode(encoding, x, point);
    return algorithm_request_allows(request, point);
}

static bool reach_free(const struct space *space, uint64_t seed,
                       const struct suggest_request *request,
                       struct value point[])
{
    struct rng_place place = {seed, request->ordinal, RNG_DRAWN};
    struct encoding whole;
    bool found = false;
    encoding_init(&whole, space);
    const struct encoding encoding = encoding_within(&whole, request->within);
    for (int i = 0; i < WAYS && !found; i++, place.draw++)
        found = reach_one(&encoding, place, request, point);
    encoding_fini(&whole);
    return found;
}

static bool is_countable(const struct space *space,
                         const struct suggest_request *request)
{
    const uint64_t size = subspace_size(space, request->within);
    return size > 0 && size <= HT_MAX_GRID;
}

/* How many are taken is known of the whole space alone. */
static bool is_full(const struct space *space,
                    const struct suggest_request *request)
{
    const uint64_t size = space_size(space);
    return size > 0 && request->taken->n >= size;
}

static bool find_free(const struct space *space, uint64_t seed,
                      const struct suggest_request *request,
                      struct value point[])
{
    if (is_full(space, request))
        return false;
    if (draw_free(space, seed, request, point))
        return true;
    if (is_countable(space, request))
        return pick_free(space, seed, request, point);
    return request->constraints != NULL &&
           reach_free(space, seed, request, point);
}

enum ht_status untried_none(const struct space *space,
                            const struct suggest_request *request,
                            struct ht_error *err)
{
    const unsigned long long size = subspace_size(space, request->within);
    const bool all = is_countable(space, request) || is_full(space, request);
    if (request->constraints != NULL)
        return ht_fail(err, HT_EXHAUSTED,
                       request->taken->n == 0
                           ? "%sno point satisfies the constraints"
                           : "%sno untried point satisfies the constraints",
                       all ? "" : "it seems that ");
    if (all)
        return ht_fail(err, HT_EXHAUSTED,
                       request->within == NULL
                           ? "all %llu points of the search space were tried"
                           : "all %llu points with the given values were tried",
                       size);
    return ht_fail(err, HT_EXHAUSTED,
                   "%d random points in a row were tried before", DRAWS);
}

enum ht_status untried_draw(const struct space *space, uint64_t seed,
                            const struct suggest_request *request,
                            struct value point[], struct ht_error *err)
{
    struct value found[HT_MAX_PARAMETERS];
    if (!find_free(space, seed, request, found))
        return untried_none(space, request, err);
    for (size_t i = 0; i < space->n; i++)
        point[i] = found[i];
    return HT_OK;
}
