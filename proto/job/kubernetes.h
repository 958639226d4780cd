/* kubernetes.h - what a study asks of a Kubernetes cluster: the section
 * `kubernetes` of a spec. */
#ifndef HT_PROTO_JOB_KUBERNETES_H
#define HT_PROTO_JOB_KUBERNETES_H

#include <stdbool.h>

#include "proto/base/text.h"

/* Of the Kueue queue of a Job. */
#define KUBERNETES_QUEUE_LABEL "kueue.x-k8s.io/queue-name"
/* In a pod: the trainer's container; below the folder is what hypertune
 * mounts, from volumes whose names begin with the prefix. */
#define KUBERNETES_CONTAINER "trial"
#define KUBERNETES_FOLDER "/hypertune"
#define KUBERNETES_PREFIX "hypertune-"

/* A member that is absent is NULL or empty. */
struct job_kubernetes {
    bool said;                /* the spec has the section */
    struct pairs labels;      /* of each Job and its pods */
    struct pairs annotations; /* the same */
    const char *queue;        /* a LocalQueue of Kueue */
    const char *pod;          /* JSON: part of a PodSpec, see pod_overlay.h */
    /* Instead of pods of our own: */
    const char *template;          /* JSON: an object, see kube_template.h */
    const char *success, *failure; /* as kube_condition.h has them */
    const char *primary_container;
    struct pairs primary_labels;
};

#endif
