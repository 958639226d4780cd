/* vizier.h - Google's methods on the trials of a study: asking for trials and
 * reporting their results.
 *
 * In a JOB_STUDY clients evaluate the trials. The study of a tuning job runs
 * its own, and has of these methods only vizier_add_trial, which adds a trial
 * that waits for a slot, vizier_delete_trial and vizier_check_stop. Core
 * thread. */
#ifndef HT_TUNER_API_VIZIER_H
#define HT_TUNER_API_VIZIER_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/field.h"
#include "tuner/api/method.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/request.h"
#include "tuner/db/rows.h"

request_handler vizier_delete;    /* of a study in any state: {} */
request_handler vizier_suggest;   /* an Operation with the client's trials */
request_handler vizier_add_trial; /* create: a point chosen by a person */
request_handler vizier_add_measurement; /* addTrialMeasurement */
request_handler vizier_complete_trial;
request_handler vizier_check_stop;   /* an Operation with shouldStop */
request_handler vizier_delete_trial; /* {} */

/* "projects/P/locations/L/studies/7" */
const char *vizier_study_name(struct arena *arena,
                              const struct study_row *study);

/* --- the final measurement of a trial, or that it has none --- */

struct vizier_result {
    const char *infeasible;         /* why, "" when not given; NULL: it is
                                       feasible */
    struct measurement measurement; /* n_metrics 0: none */
    double objective;               /* of the measurement; may be NaN */
};

/* Whether there is either: metrics, or the word that it is infeasible. */
bool vizier_result_is_given(const struct vizier_result *result);

/* Reads a finalMeasurement, which has every metric of the study. Faults go to
 * the reader. */
void vizier_result_read(const struct field_reader *reader, struct place at,
                        const struct job *job, struct vizier_result *result);

/* Ends call->trial with that result. */
enum ht_status vizier_result_store(struct method_call *call,
                                   const struct vizier_result *result,
                                   struct ht_error *err);

#endif
