/* open_trial.h - trials of studies with an open space: clients create them
 * without parameters and define them as they run, and the study's space grows
 * by these definitions. The search suggests nothing there. */
#ifndef HT_TUNER_API_OPEN_TRIAL_H
#define HT_TUNER_API_OPEN_TRIAL_H

#include "tuner/core/request.h"

/* Body: {"state": "REQUESTED" or "ACTIVE", "clientId", "metadata"}; replies
 * with the trial. */
request_handler open_trial_make;
/* Body: {"parameterSpecs": what the study does not know yet, "parameters"};
 * one that waits becomes ACTIVE. Replies with the trial. */
request_handler open_trial_define;

#endif
