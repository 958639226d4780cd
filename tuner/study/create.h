/* create.h - how a job, in any form, becomes a study. Core thread. */
#ifndef HT_TUNER_STUDY_CREATE_H
#define HT_TUNER_STUDY_CREATE_H

#include <stdint.h>

#include "proto/base/error.h"
#include "proto/doc/diag.h"
#include "tuner/core/request.h"

/* The input of study_make(), which fills in what "gets" a value. */
struct making {
    struct job *job;       /* as it was read; gets the name and the algorithm
                              that it does not have */
    const char *location;  /* where the study is */
    const char *unique_in; /* location in which no other study may have its
                              name; NULL: all of the project's */
    const char *submitted; /* of an AI Platform job: its trainingInput word
                              for word; "" */
    const char *job_spec;  /* the same of a Vertex job's replicas; NULL: none */
    struct diag warnings;  /* gets what a person should know of it, beside
                              those of reading it in the request's list */
    int64_t id;            /* gets that of the study */
};

/* Inserts the study with its first event, an event for each warning, and the
 * results of earlier studies that it starts from.
 * HT_EXISTS   its name is taken
 * HT_INVALID  no runner may run it, no method can search its space, or an
 *             earlier study does not exist; the request's list of faults names
 *             the fields */
enum ht_status study_make(struct core *core, struct request *req,
                          struct making *making, struct ht_error *err);

#endif
