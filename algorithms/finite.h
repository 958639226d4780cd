/* finite.h - the numbering of a finite space.
 *
 * Points are counted like digits of a number, the last parameter fastest, so
 * index 0 has every parameter at its first level. */
#ifndef HT_ALGORITHMS_FINITE_H
#define HT_ALGORITHMS_FINITE_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms/algorithm.h"

/* Writes the settled point with that index; index < space_size(space). Where
 * parameters are conditional, several indexes have the same point. */
void finite_point(const struct space *space, uint64_t index,
                  struct value point[]);

/* The first index in [from, to) of a point that the request allows; `to` when
 * there is none. */
uint64_t finite_next_free(const struct space *space,
                          const struct suggest_request *request, uint64_t from,
                          uint64_t to);

#endif
