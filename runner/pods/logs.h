/* logs.h - the replicas of an attempt that is read by its logs (by_log.h), as
 * the supervising thread has them. */
#ifndef HT_RUNNER_PODS_LOGS_H
#define HT_RUNNER_PODS_LOGS_H

#include <stdbool.h>
#include <stddef.h>

struct kube_end;
struct pod_run;

/* The container runs: follows its log. */
void pod_logs_read(struct pod_run *run, size_t replica);
/* Its pod has ended so: the replica ends once its log is here to the end. */
void pod_logs_settle(struct pod_run *run, size_t replica,
                     const struct kube_end *end);
/* Before the object says how the attempt ends, which has no hypertune-shim:
 * whether what its pod has printed is here. One whose lines are missing, or
 * that had no pod, has not succeeded: that ends it as lost. */
bool pod_logs_are_done(struct pod_run *run);
/* Ends a replica that was ordered to stop; true: it was. */
bool pod_logs_stopped(struct pod_run *run, size_t replica);
/* Ends the attempt when its time is over. */
void pod_logs_time(struct pod_run *run);

#endif
