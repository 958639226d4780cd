/* discovery.h - where the objects of a kind are in a Kubernetes cluster. */
#ifndef HT_RUNNER_KUBERNETES_DISCOVERY_H
#define HT_RUNNER_KUBERNETES_DISCOVERY_H

#include "runner/kubernetes/client.h"
#include "runner/kubernetes/objects.h"

/* A kind as objects name it: "kubeflow.org/v1", "PyTorchJob". */
struct kube_kind_name {
    const char *api_version, *kind;
};

/* Asks the cluster; *found is in the arena. Errors of kube_call() and
 * HT_PRECONDITION  it has no such kind, or none that is in a namespace */
enum ht_status kube_discover(struct kube *kube,
                             const struct kube_kind_name *name,
                             struct arena *arena, struct kube_kind *found,
                             struct ht_error *err);

#endif
