/* access.h - whether we may do in a namespace what the runner needs there, and
 * the Role that is missing, as an admin can apply it. */
#ifndef HT_RUNNER_KUBERNETES_ACCESS_H
#define HT_RUNNER_KUBERNETES_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct kube;

struct kube_right {
    const char *group;    /* "batch"; "" is the first API */
    const char *resource; /* "pods/log" */
    const char *verbs;    /* "get list", separated by blanks */
};
struct kube_access { /* in the arena */
    size_t n;        /* 0: nothing is missing */
    struct kube_right *missing;
};

struct kube_place {
    const char *namespace;
    bool job_sets; /* the cluster has them, see fields.h */
};
/* Asks the cluster about every verb of every right (SelfSubjectAccessReview),
 * which any known user may. Errors of kube_call(). */
enum ht_status kube_access_ask(struct kube *kube,
                               const struct kube_place *place,
                               struct arena *arena, struct kube_access *access,
                               struct ht_error *err);
/* Only about JobSets, which a runner can do without. Errors of kube_call(). */
enum ht_status kube_access_job_sets(struct kube *kube, const char *namespace,
                                    bool *allowed, struct ht_error *err);

/* A Role with what is missing, as YAML for kubectl apply; in the arena. */
const char *kube_access_role(struct arena *arena, const char *namespace,
                             const struct kube_access *access);

#endif
