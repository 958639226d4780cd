/* job_vertex.h - what the parts of the Vertex form share: the draft that
 * the tables of HyperparameterTuningJob fill, and the order of the pools. */
#ifndef HT_PROTO_JOB_VERTEX_H
#define HT_PROTO_JOB_VERTEX_H

#include "proto/field.h"
#include "proto/job_check.h"

struct vertex_draft {
    struct job_draft draft; /* draft.job is the result */
    struct place extras;    /* hypertune.parameters: steps and conditions */
    struct place pools;     /* trialJobSpec.workerPoolSpecs */
    int64_t study_trials;   /* studyStoppingConfig.maxNumTrials, 0: none */
    bool disable_retries;   /* Scheduling.disableRetries */
    bool has_retries;       /* hypertune says it, so Google's is mute */
};

/* Vertex gives a pool its role by its position. */
enum { VERTEX_POOLS = 4 };
extern const char *const vertex_pool_types[VERTEX_POOLS];

field_function vertex_study;       /* row of studySpec; `into` is the draft */
field_function vertex_unsupported; /* known member, accepted with a warning */

/* Reads studySpec.metrics and studySpec.parameters, once all places are
 * known. */
void vertex_finish_study(const struct field_reader *reader,
                         struct vertex_draft *vertex);

#endif
