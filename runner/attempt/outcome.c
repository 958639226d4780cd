#include "runner/attempt/outcome.h"

#include <stdio.h>

static bool is_failure(const struct ending *ending)
{
    return ending->outcome != OUTCOME_SUCCEEDED &&
           ending->outcome != OUTCOME_STOPPED;
}

typedef bool eligible(size_t replica, const struct ending *ending);

static bool decides(size_t replica, const struct ending *ending)
{
    return replica == 0 || is_failure(ending);
}

static bool is_lost(size_t replica, const struct ending *ending)
{
    (void)replica;
    return ending->outcome == OUTCOME_LOST;
}

static bool is_stopped(size_t replica, const struct ending *ending)
{
    (void)replica;
    return ending->outcome == OUTCOME_STOPPED;
}

static size_t find_earliest(const struct order *order,
                            const struct ending *const endings[],
                            eligible *is_eligible)
{
    size_t found = order->n_replicas;
    for (size_t i = 0; i < order->n_replicas; i++) {
        if (endings[i] != NULL && is_eligible(i, endings[i]) &&
            (found == order->n_replicas ||
             endings[i]->ended_ms < endings[found]->ended_ms))
            found = i;
    }
    return found;
}

size_t outcome_find(const struct order *order,
                    const struct ending *const endings[])
{
    const size_t none = order->n_replicas;
    const size_t found = find_earliest(order, endings, decides);
    if (found == none)
        return find_earliest(order, endings, is_stopped);
    if (endings[found]->outcome != OUTCOME_FAILED)
        return found;
    const size_t lost = find_earliest(order, endings, is_lost);
    return lost != none ? lost : found;
}

struct ending outcome_make(const struct order *order, size_t decisive,
                           const struct ending *ending)
{
    struct ending made = *ending;
    if (order->n_replicas > 1 && is_failure(ending))
        (void)snprintf(made.reason, sizeof made.reason, "%s: %.450s",
                       order->replicas[decisive].name, ending->reason);
    return made;
}
