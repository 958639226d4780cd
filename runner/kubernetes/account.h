/* account.h - the service account of the pod that this runner is in. */
#ifndef HT_RUNNER_KUBERNETES_ACCOUNT_H
#define HT_RUNNER_KUBERNETES_ACCOUNT_H

#include "runner/kubernetes/kubeconfig.h"

/* From KUBERNETES_SERVICE_HOST and _PORT, and the files token, ca.crt and
 * namespace of the account's folder. The token is read at each use: the
 * kubelet renews it. In the arena.
 * HT_NOT_FOUND  this is no pod, or one without a token */
enum ht_status kube_account_find(const struct kube_config_wish *wish,
                                 struct arena *arena,
                                 struct kube_config *config,
                                 struct ht_error *err);

#endif
