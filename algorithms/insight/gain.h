/* gain.h - how much a further trial is expected to gain. */
#ifndef HT_ALGORITHMS_INSIGHT_GAIN_H
#define HT_ALGORITHMS_INSIGHT_GAIN_H

#include <stdint.h>

#include "algorithms/model/goal_model.h"
#include "proto/space/constraint.h"

/* The largest expected improvement on the best mean, in the units of the goal,
 * that was found anywhere in the space: among points spread over all of it and
 * steps away from the most promising ones, several rounds. That a trial there
 * may fail is not counted, so it is no less than the search's own. NaN without
 * a result to improve on. */
double gain_most(const struct history *history, const struct goal_model *model,
                 const struct constraint_set *constraints, uint64_t seed);

#endif
