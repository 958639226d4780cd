/* forest.h - regression by trees: values that lie on steps, whatever the
 * distances between points.
 *
 * Extremely randomised trees (Geurts, Ernst, Wehenkel, Machine Learning 2006):
 * the best of one random cut for each of some coordinates, each tree on a
 * bootstrap sample of at most 256 points. Of their leaves come a mean and a
 * variance as of the forests of SMAC (Hutter, Hoos, Leyton-Brown, LION 2011).
 */
#ifndef HT_ALGORITHMS_MODEL_FOREST_H
#define HT_ALGORITHMS_MODEL_FOREST_H

#include "algorithms/base/rng.h"
#include "algorithms/model/sample.h"

struct forest;

/* Learns a sample of at least one point; pending ones count as come out as
 * believed. Draws at `place`. The caller's until forest_free(); it borrows the
 * encoding of the sample, nothing else. */
struct forest *forest_new(const struct sample *sample,
                          const struct rng_place *place);
void forest_free(struct forest *forest); /* accepts NULL */

/* Mean and variance of the value at x, `dim` coordinates. Any thread. */
void forest_predict(const struct forest *forest, const double x[], double *mean,
                    double *variance);

#endif
