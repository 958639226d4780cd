/* ends.h - what a pod's status means for the attempt in it, in words for
 * people: why it does not begin, and how it ended.
 *
 * Where the trainer's own end is known, that is the truth. Pure. Facts: pod
 * conditions and reasons of Kubernetes 1.26 to 1.34 (kubelet, scheduler,
 * controllers). */
#ifndef HT_RUNNER_KUBERNETES_ENDS_H
#define HT_RUNNER_KUBERNETES_ENDS_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "runner/base/folder.h"

struct node;

struct kube_end {
    bool over;            /* false: it waits or runs, and of what is below
                             only `preempted` may be set already */
    enum outcome outcome; /* of the attempt */
    bool preempted;       /* the cluster took its place: a new attempt continues
                             from the checkpoint */
    bool is_failure;      /* counts against the trial's retries */
    bool exclude;         /* the next attempt avoids this node */
    int exit;             /* code of the container; -1: not known */
    const char *words;    /* "its node n2 is gone"; in the arena */
};

/* `pod` is NULL for one that does not exist any more; `container`: the
 * trainer's. */
struct kube_end kube_end_of(struct arena *arena, const struct node *pod,
                            const char *container);

/* Why a pod does not begin, in the arena; NULL: nothing is wrong, or it has
 * begun. `before`: what this said of the pod the last time, or NULL: between
 * two tries of a pull the cluster does not repeat the registry's answer. */
const char *kube_wait_words(struct arena *arena, const struct node *pod,
                            const char *before);

#endif
