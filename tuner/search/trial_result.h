/* trial_result.h - the result of a trial that ended, as a search learns it. */
#ifndef HT_TUNER_SEARCH_TRIAL_RESULT_H
#define HT_TUNER_SEARCH_TRIAL_RESULT_H

#include "algorithms/base/algorithm.h"
#include "proto/job/job.h"
#include "tuner/db/rows.h"

/* The final values of a result, larger being better: the objective (NULL:
 * none) and what the JSON has of the other metrics, NaN where it has no number.
 * Returns whether all are there. */
bool trial_result_values(const struct job *job, const double *objective,
                         const char *metrics, double values[SETTING_METRICS]);

/* Whether such values are within the bounds of all safety metrics. */
bool trial_result_is_safe(const struct job *job,
                          const double values[SETTING_METRICS]);

/* Whether the trial is paused and its record predicts all of its result. */
bool trial_result_is_foretold(const struct job *job,
                              const struct trial_row *trial);

/* The trial's result at its settled `point`, for algorithm->observe(); a trial
 * that lacks a metric is infeasible, and one that was stopped early has its
 * predicted values. The final values, larger being better, are written to
 * `values`, which the observation borrows, as it does the point. */
struct observation trial_result_read(const struct job *job,
                                     const struct trial_row *trial,
                                     const struct value point[],
                                     double values[SETTING_METRICS]);

#endif
