#include "algorithms/insight/slice.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"

void slice_axis_init(struct slice_axis *axis, const struct space *space,
                     size_t param, enum param_scale scale, size_t most)
{
    struct param at = space->params[param];
    at.scale = scale;
    const uint64_t levels = space_param_levels(&at);
    const bool every = levels > 0 && levels <= most;
    const size_t n = every ? (size_t)levels : most;
    *axis = (struct slice_axis){.param = param};
    axis->values = ht_xcalloc(n, sizeof *axis->values);
    for (size_t i = 0; i < n; i++) {
        const struct value value =
            every ? space_param_level(&at, i)
                  : space_param_from_unit(&at, (double)i / (double)(n - 1));
        /* A log scale is finer than whole numbers at its foot. */
        if (i == 0 || !space_value_equal(&at, value, axis->values[axis->n - 1]))
            axis->values[axis->n++] = value;
    }
}

void slice_axis_fini(struct slice_axis *axis)
{
    free(axis->values);
}

/* The point with a value in every place. */
static void fill(const struct space *space, const struct value point[],
                 struct value filled[])
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        filled[i] = !point[i].absent     ? point[i]
                    : param->has_default ? param->fallback
                                         : space_param_from_unit(param, 0.5);
    }
}

/* The point of cell i; tells whether every axis has a place there. */
static bool settle_cell(const struct space *space, size_t n_axes,
                        const struct slice_axis axes[], size_t i,
                        struct value at[])
{
    const size_t columns = n_axes > 1 ? axes[1].n : 1;
    at[axes[0].param] = axes[0].values[i / columns];
    if (n_axes > 1)
        at[axes[1].param] = axes[1].values[i % columns];
    space_settle(space, at);
    return !at[axes[0].param].absent &&
           (n_axes == 1 || !at[axes[1].param].absent);
}

void slice(const struct encoding *encoding, const struct goal_model *model,
           const struct value point[], size_t n_axes,
           const struct slice_axis axes[], struct slice_cell cells[])
{
    const struct space *space = encoding->space;
    const size_t n = axes[0].n * (n_axes > 1 ? axes[1].n : 1);
    struct value filled[HT_MAX_PARAMETERS], at[HT_MAX_PARAMETERS];
    /* Points that have a place are predicted together, which is much quicker.
     */
    struct quantiles *values = ht_xcalloc(n, sizeof *values);
    double *x = ht_xcalloc(n * encoding->dim, sizeof *x);
    size_t placed = 0;
    fill(space, point, filled);
    for (size_t i = 0; i < n; i++) {
        memcpy(at, filled, space->n * sizeof *at);
        cells[i] = (struct slice_cell){
            .absent = !settle_cell(space, n_axes, axes, i, at)};
        if (!cells[i].absent)
            encoding_encode(encoding, at, x + placed++ * encoding->dim);
    }
    goal_model_quantiles(model, placed, x, values);
    for (size_t i = 0, next = 0; i < n; i++)
        if (!cells[i].absent)
            cells[i].value = values[next++];
    free(x);
    free(values);
}
