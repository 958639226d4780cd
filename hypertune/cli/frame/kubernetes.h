/* kubernetes.h - what hypertune-runner finds of a Kubernetes cluster, asked by
 * this machine's kubeconfig. */
#ifndef HT_HYPERTUNE_CLI_FRAME_KUBERNETES_H
#define HT_HYPERTUNE_CLI_FRAME_KUBERNETES_H

#include "hypertune/cli/frame/cli.h"

/* The first --kubernetes-... of this command line; NULL: there is none. */
const char *cli_kube_flag(const struct cli *cli);

struct cli_kube {
    const struct node *said; /* its answer; NULL: there is none */
    const char *trouble;     /* in words; NULL: none */
};

/* Runs it with this order, such as "--kubernetes-look", for the cluster that
 * --kubernetes-... names, for 3 minutes at most; `input` (NULL: nothing) is
 * what it reads. In cli->arena. */
struct cli_kube cli_kube_ask(struct cli *cli, const char *order,
                             const char *input);

#endif
