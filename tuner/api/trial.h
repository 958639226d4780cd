/* trial.h - the commands on one trial over HTTP. Core thread. */
#ifndef HT_TUNER_API_TRIAL_H
#define HT_TUNER_API_TRIAL_H

#include "tuner/core/request.h"

/* HTTP: ends one trial early, its results kept. Replies with the trial. */
request_handler trial_stop;
/* HTTP: a trial that ended without success runs again with the same parameters;
 * a finished study is reopened for it. Replies with the trial. */
request_handler trial_retry;

/* trial_restore.c: stores trials that ended elsewhere, with their ids, states,
 * times, results and curves, in studies of clients. Body: {"trials": [...],
 * "measurements": [...]}, both as `hypertune export` writes them, but a
 * measurement names its trial; it may come in a later request, in the order of
 * the others. Replies with {}. All of a request is stored, or nothing. */
request_handler trial_restore;

#endif
