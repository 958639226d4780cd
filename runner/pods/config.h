/* config.h - the Kubernetes cluster that the runner's options name. */
#ifndef HT_RUNNER_PODS_CONFIG_H
#define HT_RUNNER_PODS_CONFIG_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/site.h"
#include "runner/kubernetes/kubeconfig.h"

/* In the arena; errors of kube_config_find(). */
enum ht_status pods_config(const struct site *site, struct arena *arena,
                           struct kube_config *config, struct ht_error *err);

#endif
