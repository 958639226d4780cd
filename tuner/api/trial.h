/* trial.h - the commands on one trial over HTTP, and what their handlers share.
 * Core thread. */
#ifndef HT_TUNER_API_TRIAL_H
#define HT_TUNER_API_TRIAL_H

#include "proto/base/error.h"
#include "tuner/core/request.h"
#include "tuner/db/rows.h"

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

/* The study and the trial that the request's path names.
 * HT_NOT_FOUND  one of them does not exist */
enum ht_status trial_find_named(struct core *core, struct request *req,
                                struct study_row *study,
                                struct trial_row *trial, struct ht_error *err);

/* Replies with the trial, its attempts and measurements. */
enum ht_status trial_reply(struct core *core, struct request *req,
                           const struct study_row *study,
                           const struct trial_row *trial, struct ht_error *err);

#endif
