/* look.h - what `hypertune doctor` wants to know of a Kubernetes cluster. */
#ifndef HT_RUNNER_PODS_LOOK_H
#define HT_RUNNER_PODS_LOOK_H

#include "proto/base/text.h"
#include "runner/base/site.h"

/* Asks the cluster that the settings name, and appends one line of JSON:
 * {"from":"/home/a/.kube/config","context":"one","server":"https://...",
 *  "namespace":"work","version":"1.29","role":"apiVersion: ..."}
 * "context" is absent in a pod, "role" where nothing is missing: it is YAML for
 * kubectl apply. "logsOnly": true says that trials are read by their logs,
 * since the runner has no right to pods/exec. Where that fails the line ends
 * with "error", the reason in words. */
void pods_look(const struct site *site, struct text *out);

#endif
