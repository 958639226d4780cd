/* kubernetes.c - the check of `doctor` of a Kubernetes cluster. */

#include "hypertune/cli/frame/kubernetes.h"
#include "hypertune/cli/host/findings.h"

/* Why there seems to be a cluster; NULL: there is none. */
static const char *find_sign(struct cli *cli)
{
    static const char *const names[] = {"HYPERTUNE_RUNNER_KUBERNETES_CONFIG",
                                        "KUBECONFIG",
                                        "KUBERNETES_SERVICE_HOST"};
    const char *flag = cli_kube_flag(cli);
    if (flag != NULL)
        return arena_printf(cli->arena, "%s names it", flag);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cli_variable(cli, names[i]) != NULL)
            return arena_printf(cli->arena, "%s is set", names[i]);
    return NULL;
}

static void show(struct findings *findings, const struct node *said)
{
    const char *role = node_get_string(said, "role", NULL);
    findings_add(findings, FINDING_OK, "kubernetes", NULL,
                 "Kubernetes %s at %s, namespace %s",
                 node_get_string(said, "version", "?"),
                 node_get_string(said, "server", "?"),
                 node_get_string(said, "namespace", "?"));
    if (node_get_bool(said, "logsOnly", false))
        findings_add(findings, FINDING_OK, "kubernetes", NULL,
                     "trials are read by their logs: no right to pods/exec");
    if (role != NULL)
        findings_add(findings, FINDING_WARN, "kubernetes",
                     arena_printf(findings->cli->arena,
                                  "let an admin bind this Role:\n%s", role),
                     "some rights in the namespace are missing");
}

void kubernetes_examine(struct findings *findings)
{
    struct cli *cli = findings->cli;
    const char *sign = find_sign(cli);
    if (sign == NULL)
        return;
    const struct cli_kube kube = cli_kube_ask(cli, "--kubernetes-look", NULL);
    if (kube.trouble != NULL)
        findings_add(findings, FINDING_WARN, "kubernetes",
                     "correct that, if trials are to run on Kubernetes; docs/"
                     "kubernetes.md",
                     "%s; %s", sign, kube.trouble);
    else
        show(findings, kube.said);
}
