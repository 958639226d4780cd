/* slice.h - what a model predicts along one or two parameters, with the others
 * as in one point. */
#ifndef HT_ALGORITHMS_INSIGHT_SLICE_H
#define HT_ALGORITHMS_INSIGHT_SLICE_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/goal_model.h"

/* The values of one parameter at which a slice is taken. */
struct slice_axis {
    size_t param; /* index in the space */
    size_t n;
    struct value *values; /* owned */
};

/* At most `most` >= 2 values from one end of the parameter to the other, even
 * on that scale, its own or another one, which for SCALE_LOG needs positive
 * values; every value where it has no more. A constant has its one. */
void slice_axis_init(struct slice_axis *axis, const struct space *space,
                     size_t param, enum param_scale scale, size_t most);
/* Frees the values. */
void slice_axis_fini(struct slice_axis *axis);

/* One cell of a slice. */
struct slice_cell {
    bool absent; /* a parameter of an axis has no place there */
    struct quantiles value;
};

/* The model at `point` with the parameter of each of n_axes (1 or 2) moved
 * along its axis; the second moves fastest. What loses its place is left out
 * of the point, what gains one takes its usual value. `cells` has room for
 * all. */
void slice(const struct encoding *encoding, const struct goal_model *model,
           const struct value point[], size_t n_axes,
           const struct slice_axis axes[], struct slice_cell cells[]);

#endif
