/* kube_rights.h - what a runner does in its namespace of a Kubernetes cluster,
 * as the rules of a Role: for the runner, which asks whether it may, and for
 * the command, which writes the Role of a server in the cluster. */
#ifndef HT_PROTO_JOB_KUBE_RIGHTS_H
#define HT_PROTO_JOB_KUBE_RIGHTS_H

#include <stddef.h>

#include "proto/base/text.h"

struct kube_right {
    const char *group;    /* "batch"; "" is the first API */
    const char *resource; /* "pods/log" */
    const char *verbs;    /* "get list", separated by blanks */
};
struct kube_rights {
    size_t n;
    const struct kube_right *items;
};

/* All that a runner does; nothing outside of the namespace. The last one is of
 * use where JobSets are installed. */
extern const struct kube_rights kube_rights;

/* Appends "rules:" of a Role with these rights, as YAML. */
void kube_rights_put(struct text *out, const struct kube_rights *rights);

#endif
