/* trial_body.h - what clients send about trials, in Google's JSON: the
 * bodies of methods, points and measurements. Faults become violations of the
 * request, each with its field path. */
#ifndef HT_TUNER_ASK_TRIAL_BODY_H
#define HT_TUNER_ASK_TRIAL_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "proto/doc/field.h"
#include "proto/job/job.h"
#include "proto/space/part.h"
#include "tuner/core/request.h"

/* Numbers that are absent. */
enum { MEASUREMENT_UNSAID = -1 };

/* A Measurement of Google's API, in the arena of the request. */
struct measurement {
    int64_t step;       /* 0 when absent, as in Google's API */
    int64_t elapsed_ms; /* or MEASUREMENT_UNSAID */
    size_t n_metrics;   /* at least 1 */
    struct report_metric *metrics;
};

/* The reader of a request's body; its faults go to req->diag. */
struct field_reader trial_body_reader(struct request *req);

/* Reads the members of the body by the table; no body is an empty one.
 * HT_INVALID  with the violations */
enum ht_status trial_body_read(struct request *req, const struct field fields[],
                               void *into, struct ht_error *err);
/* The same for an empty message of Google's. */
enum ht_status trial_body_none(struct request *req, struct ht_error *err);
/* Whether its members can be read, even if some have faults. */
bool trial_body_is_message(const struct request *req);

/* How many items the list at `at` has: 0 without one, and after a fault, as one
 * of more than `most` is. */
size_t trial_body_count(const struct field_reader *reader, struct place at,
                        int most);

/* Reads a list of TrialParameter, each with a value and the name of a parameter
 * of the space, each once; returns how many have no fault. */
size_t trial_body_parameters(const struct field_reader *reader, struct place at,
                             const struct space *space,
                             struct named_value said[HT_MAX_PARAMETERS]);

/* Reads a list of TrialParameter into a whole, settled point of the space;
 * false after a fault. */
bool trial_body_point(const struct field_reader *reader, struct place at,
                      const struct space *space, struct value point[]);

/* Reads a number, or one of the texts that protobuf's JSON has for what is
 * none; false after a fault. */
bool trial_body_number(const struct field_reader *reader, struct place at,
                       double *value);

/* Reads a Measurement; false after a fault. Its metrics must be ones of the
 * study. */
bool trial_body_measurement(const struct field_reader *reader, struct place at,
                            const struct job *job, struct measurement *found);

/* The value of the objective, or NULL when it is not among the metrics. */
const double *trial_body_objective(const struct measurement *measurement,
                                   const struct job *job);

#endif
