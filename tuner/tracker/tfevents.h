/* tfevents.h - the records of TensorBoard's event files: TFRecord's frame, and
 * in it the few of TensorFlow's messages that show scalars and the HPARAMS
 * page, in protobuf's encoding.
 *
 * Each function appends one whole record. `wall_ms` is when it happened. */
#ifndef HT_TUNER_TRACKER_TFEVENTS_H
#define HT_TUNER_TRACKER_TFEVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"

/* The first record of every file. */
void tfevents_version(struct text *out, int64_t wall_ms);

struct tfevents_scalar {
    int64_t wall_ms, step;
    const char *tag;
    double value; /* stored as a float, which is all that TensorBoard reads */
};
void tfevents_scalar(struct text *out, const struct tfevents_scalar *scalar);

/* The parameters and metrics of the study; the metrics are those with the
 * prefix before the name of a goal. */
void tfevents_experiment(struct text *out, int64_t wall_ms, const char *name,
                         const struct job *job, const char *prefix);
/* A trial with its parameters, a map of numbers and texts. */
void tfevents_session_start(struct text *out, int64_t wall_ms,
                            const struct node *params);
void tfevents_session_end(struct text *out, int64_t wall_ms, bool succeeded);

#endif
