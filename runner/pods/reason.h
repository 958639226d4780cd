/* reason.h - why an object of ours has no pods, or has them no longer. What a
 * quota or an admission says is in its events alone; Kueue's reasons are in its
 * Workload, or where that may not be read, in the events of that. */
#ifndef HT_RUNNER_PODS_REASON_H
#define HT_RUNNER_PODS_REASON_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"

struct kube;
struct node;

struct reason_wish {
    const char *namespace;
    const struct node *top; /* the object, as the cluster has it */
    struct strings names;   /* its own, and of what it makes */
    bool lost;              /* it had pods */
};

/* *words, in the arena: the queue that a suspended one waits in, the last
 * warning of the cluster, or "". Of one that had pods: that it was suspended,
 * and why, or "". Errors of kube_call(). */
enum ht_status reason_find(struct kube *kube, const struct reason_wish *wish,
                           struct arena *arena, const char **words,
                           struct ht_error *err);

#endif
