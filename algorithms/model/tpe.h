/* tpe.h - a tree-structured Parzen estimator: points that look more like the
 * best results than like the others (Bergstra et al., 2011; Watanabe,
 * "Tree-Structured Parzen Estimator: Understanding Its Algorithm Components",
 * 2023).
 *
 * It models no values, only where the good ones lie, coordinate by coordinate:
 * little to go wrong where values jump or each branch of a conditional space
 * has little in common with the others. */
#ifndef HT_ALGORITHMS_MODEL_TPE_H
#define HT_ALGORITHMS_MODEL_TPE_H

#include <stddef.h>

#include "algorithms/model/sample.h"
#include "algorithms/space/candidates.h"

enum { TPE_CANDIDATES = 24 };

/* Draws settled points, which the constraints allow, where good results are
 * dense; the seed, ordinal, fill, part and constraints are those of `start`.
 * Writes a row of x for each and to `likeness` the logarithm of how much denser
 * good results lie there than others. Pending points are not good ones. Returns
 * how many, at most TPE_CANDIDATES. */
size_t tpe_candidates(const struct sample *sample,
                      const struct candidates *start, double x[],
                      double likeness[]);

#endif
