/* access.h - whether we may do in a namespace what the runner needs there, and
 * the Role that is missing, as an admin can apply it. */
#ifndef HT_RUNNER_KUBERNETES_ACCESS_H
#define HT_RUNNER_KUBERNETES_ACCESS_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/kube_rights.h"

struct kube;

struct kube_place {
    const char *namespace;
    bool job_sets, workloads; /* the cluster has them, see fields.h */
};
/* Asks the cluster about every verb of every right (SelfSubjectAccessReview),
 * which any known user may. What is missing is in the arena. Errors of
 * kube_call(). */
enum ht_status kube_access_ask(struct kube *kube,
                               const struct kube_place *place,
                               struct arena *arena, struct kube_rights *missing,
                               struct ht_error *err);
/* About all verbs of one right. Errors of kube_call(). */
enum ht_status kube_access_has(struct kube *kube, const char *namespace,
                               const struct kube_right *right, bool *allowed,
                               struct ht_error *err);
/* Only about JobSets, which a runner can do without. Errors of kube_call(). */
enum ht_status kube_access_job_sets(struct kube *kube, const char *namespace,
                                    bool *allowed, struct ht_error *err);
/* Whether it may read the logs of pods, but start no program in them. Errors of
 * kube_call(). */
enum ht_status kube_access_logs_only(struct kube *kube, const char *namespace,
                                     bool *only, struct ht_error *err);

/* A Role with what is missing, as YAML for kubectl apply; in the arena. */
const char *kube_access_role(struct arena *arena, const char *namespace,
                             const struct kube_rights *missing);

#endif
