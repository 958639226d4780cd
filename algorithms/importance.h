/* importance.h - how much each parameter matters to a goal.
 *
 * Three views: where good results lie compared with all results (PED-ANOVA:
 * Watanabe, Bansal, Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter
 * Importance in Arbitrary Subspaces", 2023), which needs no model; and, of the
 * model's mean over the whole space, the share of the variance that a
 * parameter explains alone, and with all its interactions (Sobol's indices, by
 * the estimators of Jansen, "Analysis of variance designs for model output",
 * 1999). */
#ifndef HT_ALGORITHMS_IMPORTANCE_H
#define HT_ALGORITHMS_IMPORTANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/goal_model.h"
#include "algorithms/history.h"

/* With fewer results every ranking is chance. */
enum { IMPORTANCE_LEAST = 10 };

/* Writes a share for each coordinate; they sum to 1, or are all 0 where good
 * results lie as all do. False with fewer than IMPORTANCE_LEAST results of the
 * goal. */
bool importance_of_good(const struct history *history, size_t goal,
                        double share[]);

struct sobol {
    double alone, total; /* shares of the variance, 0 to 1 */
};

/* Writes the shares of each coordinate in the model's mean, found from points
 * that depend on nothing but the space; 0 where the mean is flat. */
void importance_in_model(const struct encoding *encoding,
                         const struct goal_model *model, struct sobol shares[]);

#endif
