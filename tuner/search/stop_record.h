/* stop_record.h - why a trial was stopped early, as the JSON that is stored
 * with it and shown by the API, and in words:
 *
 *     {"rule": "median", "metric": "accuracy",
 *      "by": "time",                             places are seconds, not steps
 *      "at": 12,
 *      "value": 0.61, "threshold": 0.7,          what missed what
 *      "trials": 9,                              that the threshold is of
 *      "rung": 2,                                where the rule has rungs
 *      "predicted": [{"metric": "accuracy", "value": 0.66,
 *                     "deviation": 0.03}],       the result it would have had
 *      "end": 120,                               there
 *      "probability": 0.01,                      of being as good as any
 *      "curve": [[1, 0.31], [2, 0.4], ...]}      of the metric, 50 points
 *
 * in the user's units. Members that do not apply are absent. */
#ifndef HT_TUNER_SEARCH_STOP_RECORD_H
#define HT_TUNER_SEARCH_STOP_RECORD_H

#include "algorithms/stop/stop_study.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"
#include "tuner/db/rows.h"

/* The JSON, in the arena. The curve is thinned out there, not changed. */
const char *stop_record_text(struct arena *arena, const struct job *job,
                             const struct stop_curve *curve,
                             const struct stop_verdict *verdict);

/* "stopped early by the median rule at step 12: best 0.61 < median 0.7 of 9
 * trials; predicted final 0.66 +- 0.03" */
const char *stop_record_reason(struct arena *arena, const struct job *job,
                               const struct stop_verdict *verdict);

/* Replaces values, larger being better, by the predicted result in a trial's
 * record; returns the variance of the first one. Without such a record, or when
 * the trial continued to its end, nothing changes and 0 is returned. */
double stop_record_predicted(const struct job *job,
                             const struct trial_row *trial,
                             double values[SETTING_METRICS]);

#endif
