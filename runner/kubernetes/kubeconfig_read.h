/* kubeconfig_read.h - one cluster and one user of a kubeconfig file, member by
 * member; a member of the wrong kind is named with its place. */
#ifndef HT_RUNNER_KUBERNETES_KUBECONFIG_READ_H
#define HT_RUNNER_KUBERNETES_KUBECONFIG_READ_H

#include "proto/doc/node.h"
#include "runner/kubernetes/kubeconfig.h"

struct kube_file {
    struct arena *arena; /* of all that is read */
    const char *path, *folder;
    const struct node *root; /* NULL: it is empty */
};

/* A map of a file; its node may be NULL, which is a map without members. */
struct kube_place {
    const struct kube_file *file;
    const struct node *node;
    const char *path; /* "users[dev].user" */
};

/* HT_INVALID: "FILE:LINE:COLUMN: PATH must be WANTED, not KIND". */
enum ht_status kube_file_wrong(const struct kube_file *file,
                               const struct node *node, const char *path,
                               const char *wanted, struct ht_error *err);
/* The text of a member; NULL where it is absent, null or empty. */
enum ht_status kube_read_text(const struct kube_place *place, const char *key,
                              const char **text, struct ht_error *err);

/* Everything of the cluster into `config`. HT_INVALID, with the place. */
enum ht_status kube_read_cluster(const struct kube_place *place,
                                 struct kube_config *config,
                                 struct ht_error *err);
enum ht_status kube_read_user(const struct kube_place *place,
                              struct kube_user *user, struct ht_error *err);

#endif
