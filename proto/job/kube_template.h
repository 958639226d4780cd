/* kube_template.h - an object of a Kubernetes cluster that is a trial, such as
 * a PyTorchJob: which of the pods that it describes is the trial's, and what
 * its end looks like.
 *
 * A pod template is any map in it with `spec.containers`; the object itself is
 * one if it is a Pod. Pure. */
#ifndef HT_PROTO_JOB_KUBE_TEMPLATE_H
#define HT_PROTO_JOB_KUBE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/doc/field.h"
#include "proto/job/kubernetes.h"

struct kube_pod_template {
    struct place at;
    const char *role; /* the name of its replicas, "Master"; "" without */
    bool restarts;    /* the map around it has a restartPolicy for it */
    int64_t pods;     /* that the object has of it */
};

/* All of the object at `at`, in its order; *n of them. In the reader's arena,
 * as is all below. */
const struct kube_pod_template *
kube_templates(const struct field_reader *reader, struct place at, size_t *n);

struct kube_primary { /* where the trainer runs */
    struct kube_pod_template template;
    struct place container;
    const char *name; /* of the container */
};

/* Finds the one that the section, or else the kind of the object at `at`, says.
 * NULL; or what is wrong, and *wrong where, a place without a node being the
 * whole section. */
const char *kube_template_find(const struct field_reader *reader,
                               const struct job_kubernetes *section,
                               struct place at, struct kube_primary *primary,
                               struct place *wrong);

/* Whether the object at `at` describes pods. */
bool kube_template_is_whole(const struct field_reader *reader, struct place at);

/* The trial's pod of an object that describes none: an operator makes it. */
struct kube_sought {
    const char *name_label; /* the pod's label with the object's name */
    struct pairs labels;    /* others of it */
    const char *container;  /* the trainer's in it */
};
/* NULL; or why it cannot be found. */
const char *kube_template_seek(const struct job_kubernetes *section,
                               const struct node *object,
                               struct kube_sought *sought);

/* The conditions of kube_condition.h that a section with a template has: its
 * own, or those of the kind. Both are NULL where the end of the trial's pod is
 * all that is known. */
struct kube_ends {
    const char *success, *failure;
};
struct kube_ends kube_template_ends(const struct job_kubernetes *section,
                                    const struct node *object);

#endif
