/* trackers.h - where a study is shown beside this server: in MLflow and in
 * TensorBoard.
 *
 * A spec names an experiment and never an address: that of MLflow is an option
 * of the server, and TensorBoard's files are in its data folder. The native
 * form and Vertex's member "hypertune" have the map in common. */
#ifndef HT_PROTO_JOB_TRACKERS_H
#define HT_PROTO_JOB_TRACKERS_H

#include <cjson/cJSON.h>

#include "proto/doc/field.h"
#include "proto/job/job.h"

/* Of a struct job_trackers. */
extern const struct field job_tracker_rows[];

/* Adds it to `object` as the member "trackers" unless there is none. */
void job_trackers_write(cJSON *object, const struct job_trackers *trackers);

#endif
