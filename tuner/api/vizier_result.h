/* vizier_result.h - what came out of a trial that clients evaluate: its final
 * measurement, or that it has none. */
#ifndef HT_TUNER_API_VIZIER_RESULT_H
#define HT_TUNER_API_VIZIER_RESULT_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/doc/field.h"
#include "tuner/api/vizier.h"
#include "tuner/ask/trial_body.h"

struct vizier_result {
    const char *infeasible;         /* why, "" when nobody says; NULL: it is
                                       feasible */
    struct measurement measurement; /* n_metrics 0: none */
    double objective;               /* of the measurement; may be NaN */
};

bool vizier_result_is_given(const struct vizier_result *result);

/* Reads a finalMeasurement, which has every metric of the study. Faults go to
 * the reader. */
void vizier_result_read(const struct field_reader *reader, struct place at,
                        const struct job *job, struct vizier_result *result);

/* Ends call->trial with the result that is given. */
enum ht_status vizier_result_store(struct vizier_call *call,
                                   const struct vizier_result *result,
                                   struct ht_error *err);

#endif
