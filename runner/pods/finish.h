/* finish.h - how the replicas of an attempt in pods end: by their files, by the
 * status of their pods, by an order to stop. */
#ifndef HT_RUNNER_PODS_FINISH_H
#define HT_RUNNER_PODS_FINISH_H

#include <stddef.h>

#include "runner/base/folder.h"
#include "runner/kubernetes/ends.h"

struct pod_run;
struct pod_seen;

/* Ends all replicas that have not ended. */
void pod_finish_all(struct pod_run *run, enum outcome outcome,
                    const char *reason);
/* Ends one by its pod; one that was ordered to stop was stopped. */
void pod_finish_one(struct pod_run *run, size_t replica,
                    const struct kube_end *end);
/* The loss of the replica's pod is the failure of its object, if that came
 * first. */
void pod_finish_blame(const struct pod_run *run, size_t replica,
                      struct ending *ending);
/* Its pod, which has hypertune-shim, has ended: it ends once its last files had
 * the time to come. */
void pod_finish_settle(struct pod_run *run, size_t replica,
                       const struct pod_seen *seen);

#endif
