/* trial_fetch.h - the outputs of a trial for people on other machines. Core
 * thread. */
#ifndef HT_TUNER_API_TRIAL_FETCH_H
#define HT_TUNER_API_TRIAL_FETCH_H

#include "tuner/core/request.h"

/* HTTP: {"fetch": "N", "checkpoint": true}, both optional. Replies with how far
 * it is that the store has the outputs (tuner/study/fetches.h), or with the
 * newest checkpoint that it has. */
request_handler trial_fetch;

#endif
