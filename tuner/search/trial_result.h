/* trial_result.h - what a search learns from a trial that ended. */
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

/* Whether the trial is paused and the record of its pause foretells all of its
 * result. */
bool trial_result_is_foretold(const struct job *job,
                              const struct trial_row *trial);

/* The trial's result at its settled `point`, for algorithm->observe(); one that
 * lacks a metric is none, and one that was stopped early has what was foretold
 * of it. Its final values, larger being better, are written to `values`, which
 * it borrows as it does the point. */
struct observation trial_result_read(const struct job *job,
                                     const struct trial_row *trial,
                                     const struct value point[],
                                     double values[SETTING_METRICS]);

#endif
