/* importance.h - how much each parameter matters to a goal.
 *
 * The number to look at first is `share`: of all the variation of the goal
 * over the searched space, as the results let a model expect it, the part that
 * the parameter explains, its interactions shared evenly with those it
 * interacts with. Shares sum to 1 at most. A parameter that the results cannot
 * tell from one without effect has none. Whether a conditional parameter is
 * there counts for its parent.
 *
 * Beside it are what it explains alone and with all of each interaction
 * (variation.h), and `good`: where good results lie compared with all results
 * (PED-ANOVA: Watanabe, Bansal, Hutter, "PED-ANOVA: Efficiently Quantifying
 * Hyperparameter Importance in Arbitrary Subspaces", 2023). That needs no
 * model, but few good results lie unevenly by chance, and all results lie where
 * a search has led them. */
#ifndef HT_ALGORITHMS_INSIGHT_IMPORTANCE_H
#define HT_ALGORITHMS_INSIGHT_IMPORTANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/model/history.h"

/* With fewer results every ranking is chance. */
enum { IMPORTANCE_LEAST = 10 };

/* Of one coordinate; all are shares from 0 to 1. */
struct importance {
    double share;        /* 0 unless it is certain */
    bool certain;        /* differs from a parameter without effect */
    double alone, total; /* by the model, certain or not */
    double good;         /* sum to 1, or are all 0 where good results lie as
                            all do */
};

/* Writes the importance of each coordinate for one goal, of which only results
 * with a value count; points and starts depend on the seed alone. False with
 * fewer than IMPORTANCE_LEAST of them. */
bool importance_find(const struct history *history, size_t goal,
                     enum noise noise, uint64_t seed,
                     struct importance importances[]);

#endif
