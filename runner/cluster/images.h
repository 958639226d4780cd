/* images.h - trials in container images on the nodes of a cluster: what the
 * runner prepares, and the way that a batch has to run them. */
#ifndef HT_RUNNER_CLUSTER_IMAGES_H
#define HT_RUNNER_CLUSTER_IMAGES_H

#include <stdbool.h>

#include "proto/job/slurm.h"
#include "runner/attempt/engine.h"

/* Whether replicas run in images. */
bool images_are_wanted(const struct order *order);

/* Prepares every replica's folder for its image unless that was done.
 * HT_PRECONDITION  a volume cannot be mounted, as of mounts_find()
 * other            as of prepare_replicas() */
enum ht_status images_prepare(const struct engine_place *place,
                              struct ht_error *err);

/* Writes into the batch's folder how its images run.
 * HT_PRECONDITION  this version cannot run them so
 * HT_IO            the file cannot be written */
enum ht_status images_choose(const char *batch, const struct slurm_need *need,
                             struct ht_error *err);

#endif
