/* final_model.h - predicts the final result of trials that are still running,
 * by a Gaussian process over the curves that ended by themselves.
 *
 * It learns how much was still to come at the same place of each, from where
 * the curve stood, how it had come there, and its parameters. */
#ifndef HT_ALGORITHMS_STOP_FINAL_MODEL_H
#define HT_ALGORITHMS_STOP_FINAL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/stop/stop_study.h"

enum { FINAL_CURVES = 5 }; /* known ones that a prediction needs, at least */

/* Where trials of the study end by themselves: as its options say, otherwise
 * the median of those that did. False: there is none. */
bool final_model_place(const struct stop_study *study, double *at);

/* The best result of a goal so far, of how many; NaN of none. */
double final_model_best(const struct stop_study *study, size_t goal, size_t *n);

/* Writes the prediction for an open curve, with its probability; nothing where
 * curves are too few. */
void final_model_predict(const struct stop_study *study, size_t current,
                         struct stop_prediction *prediction);

/* The probability of a result that no result so far is better than in every
 * objective, from predictions of all of them. */
double final_model_probability(const struct stop_study *study,
                               const struct stop_prediction *prediction);

#endif
