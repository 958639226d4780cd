/* reason.h - why an object of ours has no pods. What a quota or an admission
 * says is in its events alone, and Kueue's reasons are in those of its
 * Workload.
 */
#ifndef HT_RUNNER_PODS_REASON_H
#define HT_RUNNER_PODS_REASON_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"

struct kube;
struct node;

struct reason_wish {
    const char *namespace;
    const struct node *top; /* the object, as the cluster has it */
    struct strings names;   /* its own, and of what it makes */
};

/* *words, in the arena: the queue that a suspended one waits in, the last
 * warning of the cluster, or "". Errors of kube_call(). */
enum ht_status reason_find(struct kube *kube, const struct reason_wish *wish,
                           struct arena *arena, const char **words,
                           struct ht_error *err);

#endif
