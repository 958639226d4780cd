/* exec_plugin.h - credentials made by a program that a kubeconfig names, by the
 * protocol client.authentication.k8s.io. */
#ifndef HT_RUNNER_KUBERNETES_EXEC_PLUGIN_H
#define HT_RUNNER_KUBERNETES_EXEC_PLUGIN_H

#include <stdint.h>

#include "runner/kubernetes/kubeconfig.h"

/* In the arena of kube_exec_run(); NULL where it gave none. */
struct kube_pass {
    const char *token;
    const char *cert, *key; /* PEM */
    int64_t until_ms;       /* wall clock: from then on it is of no use; 0: the
                               program sets no end */
};

/* Runs the program of config->user, for at most a minute, without a person
 * who could answer it.
 * HT_NOT_FOUND        it is not installed, with its hint
 * HT_UNAUTHENTICATED  it failed, with the last line of its stderr, or its
 *                     answer is no ExecCredential of the same version */
enum ht_status kube_exec_run(const struct kube_config *config,
                             struct arena *arena, struct kube_pass *pass,
                             struct ht_error *err);

#endif
