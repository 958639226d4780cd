/* portfolio.h - which kind of model makes the next suggestion.
 *
 * A Gaussian process makes them as long as it leads to better ones. Where it
 * cannot tell which result is better than which, and its points bring nothing
 * any more, every other one is made by a model that believes something else:
 * trees, which expect steps, and Parzen windows, which expect nothing but that
 * good points lie near good ones. A function of the results and the ordinal. */
#ifndef HT_ALGORITHMS_SEARCH_PORTFOLIO_H
#define HT_ALGORITHMS_SEARCH_PORTFOLIO_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms/model/goal_model.h"
#include "algorithms/model/history.h"

enum family { FAMILY_PROCESS, FAMILY_FOREST, FAMILY_PARZEN };

/* How many results came since one was better than all before by more than a
 * hundredth of what the best is better than the median. */
size_t portfolio_stagnation(const struct history *history);

/* The family of a suggestion in a study of one objective: the first 20 results
 * are the process' to learn from. */
enum family portfolio_family(const struct history *history,
                             const struct goal_model *model, uint64_t ordinal);

/* What one of the others chooses from. */
struct portfolio {
    enum family family;  /* not FAMILY_PROCESS */
    const struct gp *gp; /* the results, and pending points as believed */
    const struct acquisition *acquisition; /* its chances count */
    const struct candidates *start;
    const struct suggest_request *request;
};

/* Writes a settled point and how much it promised; false when no candidate is
 * free. */
bool portfolio_point(const struct portfolio *portfolio, struct value point[],
                     double *promise);

#endif
