/* border.h - whether a parameter is best at an end of its range.
 *
 * Said only where results and model agree: at least four fifths of the best
 * tenth, the best one among them, lie within a fiftieth of that end, and the
 * model rises towards it by more than it may be wrong. */
#ifndef HT_ALGORITHMS_INSIGHT_BORDER_H
#define HT_ALGORITHMS_INSIGHT_BORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/model/goal_model.h"

struct border {
    bool upper;
    size_t good;   /* results that are the best tenth */
    double end;    /* of today's range, */
    double beyond; /* and one further out: a decade on a logarithmic scale,
                      otherwise half of the width, whole steps, or one more
                      value of a list */
};

/* Of the goal that the model is of. False: it is not so, the results are too
 * few, the parameter is no number or has a mirrored scale, or the end seems to
 * be natural: 0, 1 of shares, 1 of counts. */
bool border_find(const struct history *history, size_t goal,
                 const struct goal_model *model, size_t c,
                 struct border *border);

#endif
