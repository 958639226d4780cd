/* vertex.h - what the parts of the Vertex form share: the draft that
 * the tables of its three resources fill. */
#ifndef HT_PROTO_FORM_VERTEX_H
#define HT_PROTO_FORM_VERTEX_H

#include <cjson/cJSON.h>

#include "proto/doc/field.h"
#include "proto/job/draft.h"

struct vertex_draft {
    struct job_draft draft;  /* draft.job is the result */
    struct place extras;     /* hypertune.parameters: steps and conditions */
    struct strings order;    /* hypertune.parameterOrder */
    struct place order_at;   /* where it is */
    struct place algorithm;  /* hypertune.algorithm: bayesian by name */
    struct place early_stop; /* hypertune.earlyStopping */
    struct place resources;  /* hypertune.replicas: what each type needs */
    double gpu_part;         /* hypertune.gpu: of the first pool */
    struct place part;       /* where that is */
    int64_t gpu_memory;      /* hypertune.gpuMemoryBytes: of the first pool */
    struct place gcs_output; /* an outputUriPrefix in Google's storage */
    int64_t study_trials;    /* studyStoppingConfig.maxNumTrials, 0: none */
    bool should_stop_asap;   /* studyStoppingConfig.shouldStopAsap */
    struct place no_priors;  /* where transfer learning is ruled out */
    bool disable_retries;    /* Scheduling.disableRetries */
    bool flex_start;         /* Scheduling.strategy, as which alone counts */
    struct place wait_at;    /* Scheduling.maxWaitDuration */
    int64_t wait_ms;         /* the same; a day when left out, 0: for ever */
    bool has_retries;        /* hypertune has it, so Google's is ignored */
};

/* Names of the lists of a parent's values, by its type; NULL where none is. */
extern const char *const vertex_parent_lists[];

/* Rows of the resource; `into` is the draft. */
field_function vertex_study;     /* studySpec */
field_function vertex_variables; /* struct pairs from a list of {name, value} */
extern const struct field vertex_job_spec_rows[]; /* trialJobSpec, jobSpec */

/* Gives the pools what hypertune has for them, and the job its folder of
 * outputs, once all are read. */
void vertex_finish_pools(const struct field_reader *reader,
                         struct vertex_draft *vertex);

/* Reads studySpec.metrics and studySpec.parameters, once all places are
 * known. */
void vertex_finish_study(const struct field_reader *reader,
                         struct vertex_draft *vertex);
/* The second of the two alone, as for the parameters that a trial adds to an
 * open space: there the list may be empty. */
void vertex_read_parameters(const struct field_reader *reader,
                            struct vertex_draft *vertex);

/* Whether the member of the resource that a path leads through is Vertex's, so
 * that what is kept under it has its own place there. */
bool vertex_has_place(const char *path);

/* ---- writing ---- */

/* Adds studySpec with all that it can say of the job. */
void vertex_add_study(cJSON *root, const struct job *job);
/* Whether studySpec can hold the whole rule. */
bool vertex_says_early_stop(const struct early_stop *stop);
/* Adds to `hypertune` what studySpec.parameters cannot say. */
void vertex_add_extras(cJSON *hypertune, const struct space *space);

#endif
