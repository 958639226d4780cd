/* part.h - a part of a search space in which some parameters have values fixed
 * by a user or client. */
#ifndef HT_PROTO_SPACE_PART_H
#define HT_PROTO_SPACE_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/doc/field.h"
#include "proto/space/constraint.h"
#include "proto/space/space.h"

/* A parameter of the space, by a name that several may share. */
struct named_value {
    const char *name;
    struct place value;
};

/* Reads the part where n named parameters have these values, each name once;
 * `given` has room for those of the space and tells them by parameter, absent
 * where none is given. False after a fault: a value that its parameter cannot
 * have, values that no point has together. */
bool part_read(const struct field_reader *reader, const struct space *space,
               size_t n, const struct named_value named[], struct value given[],
               struct subspace *part);

/* Whether a point of the part may satisfy the constraints, by the values that
 * all of its points have; otherwise a fault at `at` that names one which does
 * not hold. */
bool part_check(const struct field_reader *reader, struct place at,
                const struct constraint_set *constraints,
                const struct subspace *part);

#endif
