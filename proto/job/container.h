/* container.h - how the containers of a job are set up.
 *
 * The native form and Vertex's member "hypertune" have these members in
 * common: one grammar reads them, one function writes them. */
#ifndef HT_PROTO_JOB_CONTAINER_H
#define HT_PROTO_JOB_CONTAINER_H

#include <cjson/cJSON.h>

#include "proto/doc/field.h"
#include "proto/job/job.h"

/* Rows that write a const char *. */
field_function job_image;
field_function job_machine;
field_function job_service_account; /* in Google's forms "" names none */

/* Rows whose offset is that of the struct job_draft. */
field_function job_secrets; /* secrets */
field_function job_volumes; /* volumes */
field_function job_workdir; /* workdir */

extern const struct field_choice job_reporters[]; /* of reporter: */

/* Rows of container, into a struct container_options; of one secret; of keep,
 * into an int64_t. */
extern const struct field job_container_rows[];
extern const struct field job_secret_rows[];
extern const struct field job_keep_rows[];

/* Adds what is not at its default: container, secrets, reporter, rewriteGs,
 * keep and volumes. */
void job_container_write(cJSON *object, const struct job *job);

#endif
