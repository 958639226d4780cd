/* shape.h - the objects of a Kubernetes cluster for one attempt: an Indexed Job
 * for the replicas of each type, and where there are several replicas a
 * headless Service that gives them names; or a JobSet that makes all of these,
 * with the same names.
 *
 * Pure. In each pod hypertune-shim is the first process, unless it is read by
 * its log (by_log.h); its folder and those
 * of the trial are in one emptyDir, which runner/mirror serves. */
#ifndef HT_RUNNER_PODS_SHAPE_H
#define HT_RUNNER_PODS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/job/kubernetes.h"
#include "runner/base/order.h"

struct image;
struct kube_fields;
struct pod_template;
struct shim_maps;
struct site;

/* In a pod: the root of its files, and the container of the trainer. */
#define POD_ROOT KUBERNETES_FOLDER "/state"
#define POD_BIN KUBERNETES_FOLDER "/bin"
#define POD_CONTAINER KUBERNETES_CONTAINER
enum { POD_PORT = 2222 }; /* of each replica for the others */

/* Labels of all objects; the first one selects those of a runner. */
#define POD_LABEL_RUNNER "hypertune/runner"
#define POD_LABEL_ATTEMPT "hypertune/attempt" /* "7-3-1" */
#define POD_LABEL_REPLICAS "hypertune/replicas"
/* Of the trial's pod of a template: the trainer's container in it. */
#define POD_LABEL_CONTAINER "hypertune/container"

/* The replicas of one type, which are neighbours in the order. */
struct pod_group {
    const char *type;
    size_t first, n;
};

struct pod_shape {
    const struct site *site;
    const struct order *order;
    const struct kube_fields *fields; /* of the server */
    const struct shim_maps *shim;
    const struct image *images; /* of each replica, as its registry has it; one
                                   without a digest is asked by its name, as
                                   all are where this is NULL */
    const struct pairs *variables;       /* of each replica whose pod is without
                                            hypertune-shim; NULL: it has it */
    const struct pod_template *template; /* NULL: pods of our own */
    bool job_sets;                       /* for several replicas */
};

/* In the arena; *n of them. */
const struct pod_group *pod_groups(struct arena *arena,
                                   const struct order *order, size_t *n);

/* Whether pods of this engine can be what the order asks for.
 * HT_PRECONDITION  they cannot; the text names the field and a remedy */
enum ht_status pod_check(const struct order *order, struct ht_error *err);

/* "ht-ab12cd34-7-3-1-worker-0", in the arena: as a JobSet names it. */
const char *pod_job_name(struct arena *arena, const struct order *order,
                         const struct pod_group *group);
/* "ht-ab12cd34-7-3-1-worker-0-2.ht-ab12cd34-7-3-1", in the arena: how replicas
 * reach worker-2. */
const char *pod_host(struct arena *arena, const struct order *order,
                     size_t replica);
/* The value of POD_LABEL_ATTEMPT, in the arena. */
const char *pod_attempt_label(struct arena *arena, const struct order_key *key);

/* Adds securityContext: of a user who is not root what Kubernetes' policy
 * "restricted" wants. */
void pod_put_safety(struct text *out, const struct order *order);

/* Each appends the object as JSON. */
void pod_put_job(struct text *out, const struct pod_shape *shape,
                 const struct pod_group *group);
void pod_put_service(struct text *out, const struct pod_shape *shape);
/* What an object from a template gets, and each pod template in it, for
 * pod_overlay(): its metadata; of the trial's pod, whose container has that
 * name, also what the engine needs. NULL: of the other pods. */
void pod_put_object_part(struct text *out, const struct pod_shape *shape);
void pod_put_pod_part(struct text *out, const struct pod_shape *shape,
                      const char *container);
void pod_put_job_set(struct text *out, const struct pod_shape *shape);

#endif
