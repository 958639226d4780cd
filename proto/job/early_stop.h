/* early_stop.h - the rule that ends trials early, as specs say it.
 *
 * The native form and Vertex's member "hypertune" have it in common: the name
 * of a rule, or a map of the rule and its options. */
#ifndef HT_PROTO_JOB_EARLY_STOP_H
#define HT_PROTO_JOB_EARLY_STOP_H

#include <cjson/cJSON.h>

#include "proto/doc/field.h"
#include "proto/job/check.h"
#include "proto/job/job.h"

/* Row whose offset is that of the struct job_draft. */
field_function job_early_stop;

/* Rows of the map, ended by a NULL name; into a struct early_stop. */
extern const struct field job_early_stop_rows[];

/* "median" */
const char *job_early_stop_name(enum job_early_stop rule);

/* Whether anything but the rule was said. */
bool job_early_stop_has_options(const struct early_stop *stop);

/* Adds the rule to `object` as the member "earlyStopping". */
void job_early_stop_write(cJSON *object, const struct early_stop *stop);

/* Checks the options against each other and against the rule. */
void job_early_stop_check(const struct field_reader *reader,
                          const struct job_draft *draft);

#endif
