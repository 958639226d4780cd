/* acquire.h - finds the most promising point that was not tried, from the best
 * candidates along the slopes of the acquisition function.
 *
 * A space of few points is listed and the best one taken. Otherwise the best
 * of many candidates are improved, in turns along the slopes of continuous
 * coordinates and through the values of each other one, and the best result
 * that is free is taken. */
#ifndef HT_ALGORITHMS_SEARCH_ACQUIRE_H
#define HT_ALGORITHMS_SEARCH_ACQUIRE_H

#include <stdbool.h>

#include "algorithms/space/candidates.h"

struct acquire {
    const struct acquisition *acquisition;
    const struct suggest_request *request;
    struct candidates candidates; /* what they start from */
};

/* Writes a settled point; false when no candidate is free. */
bool acquire_point(const struct acquire *acquire, struct value point[]);

#endif
