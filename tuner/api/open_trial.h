/* open_trial.h - trials of studies with an open space: clients create them
 * without parameters and define them as they run, and the study's space grows
 * by these definitions. */
#ifndef HT_TUNER_API_OPEN_TRIAL_H
#define HT_TUNER_API_OPEN_TRIAL_H

#include "proto/space/space.h"
#include "tuner/api/method.h"

struct suggestion;

/* Body: {"state": "REQUESTED" or "ACTIVE", "clientId", "metadata"}; replies
 * with the trial. */
request_handler open_trial_make;
/* Body: {"parameterSpecs": what the study does not know yet, "parameters",
 * "metricSpecs": safety metrics that it may lack, "whole": the trial has no
 * other values}; one that waits becomes
 * ACTIVE. Replies with the trial. */
request_handler open_trial_define;

/* --- for other methods on such a trial --- */

/* HT_PRECONDITION: the study's space is not open, or the trial has ended. */
method_body open_trial_check;
/* Makes the study's space hold `more`. HT_INVALID as space_widen(). */
enum ht_status open_trial_widen(struct method_call *call,
                                const struct space *more, struct ht_error *err);
/* Gives the trial the values that the search has found. */
enum ht_status open_trial_take(struct method_call *call,
                               const struct suggestion *found,
                               struct ht_error *err);

#endif
