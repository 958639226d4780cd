/* kubernetes.h - what hypertune-runner finds of a Kubernetes cluster, asked by
 * this machine's kubeconfig. */
#ifndef HT_HYPERTUNE_CLI_FRAME_KUBERNETES_H
#define HT_HYPERTUNE_CLI_FRAME_KUBERNETES_H

#include "hypertune/cli/frame/cli.h"

enum { CLI_KUBE_OPTIONS = 3 };
/* Flags of this command line, which are also those of the runner. NULL: it is
 * not said. */
void cli_kube_options(const struct cli *cli, struct pair options[]);

/* Whether this machine seems to know a cluster: a flag, a variable, or a
 * kubeconfig at its usual place. */
bool cli_kube_is_known(const struct cli *cli);

/* The first --kubernetes-... of this command line; NULL: there is none. */
const char *cli_kube_flag(const struct cli *cli);

struct cli_kube {
    const struct node *said; /* its answer; NULL: there is none */
    const char *trouble;     /* in words; NULL: none */
};

struct cli_kube_question {
    const char *order; /* such as "--kubernetes-look" */
    const char *input; /* what it reads; NULL: nothing */
    int64_t limit_ms;  /* its --start-limit, rounded up to seconds; 0: none */
};

/* Asks it about the cluster that --kubernetes-... names, for 3 minutes at most
 * beside the limit. In cli->arena. */
struct cli_kube cli_kube_ask(struct cli *cli,
                             const struct cli_kube_question *question);

#endif
