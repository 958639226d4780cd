#include "tests/lib/searching.h"

enum ht_status search_new(const struct algorithm *algorithm,
                          const struct space *space, uint64_t seed,
                          void **state, struct ht_error *err)
{
    const struct setting setting = {.space = space, .seed = seed, .n_goals = 1};
    return algorithm->new (&setting, state, err);
}

enum ht_status search_tell(const struct algorithm *algorithm, void *state,
                           const struct value point[], bool feasible,
                           double value)
{
    const struct observation seen = {
        .point = point, .feasible = feasible, .values = &value};
    return algorithm->observe(state, &seen, NULL);
}

enum ht_status search_ask(const struct algorithm *algorithm, void *state,
                          const struct suggest_request *request,
                          struct value point[], struct ht_error *err)
{
    struct reason reason;
    return algorithm->suggest(state, request, point, &reason, err);
}

bool same_point(const struct space *space, const struct value a[],
                const struct value b[])
{
    for (size_t i = 0; i < space->n; i++)
        if (!space_value_equal(&space->params[i], a[i], b[i]))
            return false;
    return true;
}
