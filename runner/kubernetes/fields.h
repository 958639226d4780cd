/* fields.h - what a cluster has that others do not: one table of optional
 * fields with the version from which on each is there, the cluster's own
 * answer, and whether JobSets (kubernetes-sigs/jobset) and Kueue are
 * installed. */
#ifndef HT_RUNNER_KUBERNETES_FIELDS_H
#define HT_RUNNER_KUBERNETES_FIELDS_H

#include <stdbool.h>

#include "runner/kubernetes/client.h"

/* The table's rows; a field is only sent where it is there. */
enum kube_field {
    KUBE_POD_FAILURE_POLICY,
    KUBE_POD_REPLACEMENT_POLICY,
    KUBE_BACKOFF_LIMIT_PER_INDEX,
    KUBE_SUCCESS_POLICY,
    KUBE_MANAGED_BY,
    KUBE_SCHEDULING_GATES,
    KUBE_RESOURCE_CLAIMS,
    KUBE_SIDECARS,      /* restartPolicy of init containers */
    KUBE_IMAGE_VOLUMES, /* volumes from images */
    KUBE_FIELDS
};

struct kube_fields {
    int major, minor; /* of the server, "1.26" is 1 and 26; 0: not known */
    bool by_schema;   /* its /openapi/v3 says which, else its version does */
    bool has[KUBE_FIELDS];
    bool job_sets;
    bool workloads; /* of Kueue */
};

/* "podFailurePolicy"; in docs and messages. */
const char *kube_field_name(enum kube_field field);

/* Asks the server: /version, the schema of its Jobs, and for JobSets and
 * Kueue. Where it gives no schema, a field is there from the version on that
 * has it without a feature gate. Errors of kube_call(). */
enum ht_status kube_fields_ask(struct kube *kube, struct kube_fields *fields,
                               struct ht_error *err);

/* The two parts of the decision, of what was answered; `schema` may be NULL. */
void kube_fields_read(const struct node *version, const struct node *schema,
                      struct kube_fields *fields);

#endif
