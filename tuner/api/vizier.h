/* vizier.h - Google's methods on the trials of a study: asking for trials and
 * telling what came out.
 *
 * In a JOB_STUDY clients evaluate the trials. A tuning job's study runs its
 * own, so of these methods it knows vizier_add_trial, which makes a trial that
 * waits for a slot, vizier_delete_trial and vizier_check_stop. Core thread. */
#ifndef HT_TUNER_API_VIZIER_H
#define HT_TUNER_API_VIZIER_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/core/request.h"
#include "tuner/db/rows.h"

request_handler vizier_delete;    /* of a study: {}, whatever state it is in */
request_handler vizier_suggest;   /* an Operation with the client's trials */
request_handler vizier_add_trial; /* create: a point that a person chose */
request_handler vizier_add_measurement; /* addTrialMeasurement */
request_handler vizier_complete_trial;
request_handler vizier_check_stop;   /* an Operation with shouldStop */
request_handler vizier_delete_trial; /* {} */

/* What the methods on one trial work on. */
struct vizier_call {
    struct core *core;
    struct request *req;
    struct study_row study;
    const struct job *job;
    struct trial_row trial;
};

/* Finds the study of the request, and its job. */
enum ht_status vizier_find_study(struct vizier_call *call,
                                 struct ht_error *err);
/* Also the trial. HT_PRECONDITION: a job runs it, clients do not. */
enum ht_status vizier_find_trial(struct vizier_call *call,
                                 struct ht_error *err);
/* Replies with the trial. */
enum ht_status vizier_reply_trial(struct vizier_call *call,
                                  struct ht_error *err);
/* "projects/P/locations/L/studies/7" */
const char *vizier_study_name(struct arena *arena,
                              const struct study_row *study);

#endif
