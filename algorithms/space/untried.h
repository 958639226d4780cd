/* untried.h - draws a random point of a study: uniform over the scaled space,
 * allowed by its constraints, not tried before. */
#ifndef HT_ALGORITHMS_SPACE_UNTRIED_H
#define HT_ALGORITHMS_SPACE_UNTRIED_H

#include <stdint.h>

#include "algorithms/base/algorithm.h"

/* Writes a point drawn uniformly from the scaled space or, where constraints
 * leave a sliver of it, nearly so: a function of the seed, the request's
 * ordinal, the part asked for, the constraints and what is taken.
 * HT_EXHAUSTED  every point is taken, or as good as every one */
enum ht_status untried_draw(const struct space *space, uint64_t seed,
                            const struct suggest_request *request,
                            struct value point[], struct ht_error *err);

/* Says that no point is left, and why; HT_EXHAUSTED. */
enum ht_status untried_none(const struct space *space,
                            const struct suggest_request *request,
                            struct ht_error *err);

#endif
