/* prepare_processes.h - prepares an attempt whose replicas run as processes, of
 * this machine or of a cluster's nodes. */
#ifndef HT_RUNNER_ATTEMPT_PREPARE_PROCESSES_H
#define HT_RUNNER_ATTEMPT_PREPARE_PROCESSES_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/replica_view.h"

/* Changes a replica's view to what its engine has there. */
typedef void prepare_adapt(const struct engine_place *place,
                           struct arena *arena, size_t replica,
                           struct replica_view *view);

/* Prepares every replica's folder (prepare.h) unless that was done.
 * HT_PRECONDITION  a replica has no command, or its working folder is missing
 * other            as of prepare_replicas() */
enum ht_status prepare_processes(const struct engine_place *place,
                                 prepare_adapt *adapt, struct ht_error *err);

#endif
