/* open_trial.h - trials of studies whose space is open: their clients make
 * them without parameters and define them as they go, and the study's space
 * grows by what they say. The search makes none there. */
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
