/* finite.h - the numbering of a finite space, or of a finite part of one.
 *
 * Points are counted like digits of a number, the last parameter fastest, so
 * index 0 has every parameter at its first level. */
#ifndef HT_ALGORITHMS_BASE_FINITE_H
#define HT_ALGORITHMS_BASE_FINITE_H

#include <stdint.h>

#include "algorithms/base/algorithm.h"

/* Writes the settled point of the part (NULL: of all the space) with that
 * index; index < subspace_size(). Where parameters are conditional, several
 * indexes have the same point. */
void finite_point(const struct space *space, const struct subspace *part,
                  uint64_t index, struct value point[]);

/* The first index in [from, to), of the part asked for, whose point the request
 * allows; `to` when there is none. */
uint64_t finite_next_free(const struct space *space,
                          const struct suggest_request *request, uint64_t from,
                          uint64_t to);

#endif
