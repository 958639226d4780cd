/* template.h - an attempt that is an object from the template of its study: as
 * it is made, and what its conditions say.
 *
 * Pure. All pod templates in it have our labels; the trial's pod, whose
 * container begins with hypertune-shim, those of a replica. */
#ifndef HT_RUNNER_PODS_TEMPLATE_H
#define HT_RUNNER_PODS_TEMPLATE_H

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "proto/job/kube_template.h"
#include "runner/kubernetes/discovery.h"

struct job_kubernetes;
struct node;
struct pod_shape;
struct text;

struct pod_template { /* in the arena of pod_template_read() */
    const struct node *object;
    struct kube_kind_name kind;
    size_t n;
    const struct kube_pod_template *pods; /* all pod templates */
    struct kube_primary primary;
    struct kube_sought sought; /* where `n` is 0: an operator makes its pods */
    struct kube_ends ends;
};

/* The section has a template.
 * HT_PRECONDITION  it cannot be a trial */
enum ht_status pod_template_read(struct arena *arena,
                                 const struct job_kubernetes *section,
                                 struct pod_template *template,
                                 struct ht_error *err);
/* Appends the object of the shape's template as JSON. */
void pod_put_template(struct text *out, const struct pod_shape *shape);

/* What the object says of the attempt. */
struct pod_verdict {
    enum { VERDICT_NONE, VERDICT_SUCCEEDED, VERDICT_FAILED } kind;
    char words[HT_MAX_REASON]; /* "its PyTorchJob failed: Reason: message" */
};
/* The failure comes first, as in Katib. */
struct pod_verdict pod_template_judge(const struct pod_template *template,
                                      const struct node *object);

#endif
