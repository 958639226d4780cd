/* trial_restore.h - trials that ended elsewhere, taken in as they were: their
 * ids, states, moments, results and curves. For studies of clients. */
#ifndef HT_TUNER_API_TRIAL_RESTORE_H
#define HT_TUNER_API_TRIAL_RESTORE_H

#include "tuner/core/request.h"

/* Body: {"trials": [...], "measurements": [...]}, both as `hypertune export`
 * writes them, but a measurement names its trial; it may come in a later
 * request, in the order of the others. Replies with {}. All of a request, or
 * nothing of it. */
request_handler trial_restore;

#endif
