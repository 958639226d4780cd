/* kubernetes.c - the check of `doctor` of a Kubernetes cluster. */

#include <string.h>

#include "hypertune/cli/frame/kubernetes.h"
#include "hypertune/cli/host/findings.h"
#include "proto/base/clock.h"

enum { PROOF_MS = 60000 }; /* without --timeout */

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
    return cli->set.image != NULL ? "--image is said" : NULL;
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

/* One pod shows what rights alone do not: a node with room, the image, what
 * admissions say, and the way back. */
static void prove(struct findings *findings)
{
    struct cli *cli = findings->cli;
    char span[CLOCK_DURATION_BYTES];
    const int64_t timeout_ms = cli->set.timeout_ms; /* CLI_UNSET is below 0 */
    const struct cli_kube_question question = {
        .order = "--kubernetes-prove",
        .input = cli->set.image,
        .limit_ms = timeout_ms > 0 ? timeout_ms : PROOF_MS};
    cli_say(cli, "running one pod, for %s at most...",
            clock_duration(span, question.limit_ms));
    const struct cli_kube kube = cli_kube_ask(cli, &question);
    const char *left = node_get_string(kube.said, "left", NULL);
    if (kube.trouble != NULL)
        findings_add(findings, FINDING_WARN, "kubernetes",
                     "correct that, or take another --image", "%s",
                     kube.trouble);
    else
        findings_add(
            findings, FINDING_OK, "kubernetes", NULL, "a pod runs: %s (%s)",
            strcmp(node_get_string(kube.said, "way", ""), "exec") == 0
                ? "reports and logs arrive by exec"
                : "it is read by its log",
            clock_duration(span, node_get_int(kube.said, "tookMs", 0)));
    if (left != NULL)
        findings_add(findings, FINDING_WARN, "kubernetes",
                     arena_printf(cli->arena, "kubectl delete job %s", left),
                     "the Job %s could not be removed", left);
}

void kubernetes_examine(struct findings *findings)
{
    struct cli *cli = findings->cli;
    const char *sign = find_sign(cli);
    if (sign == NULL)
        return;
    const struct cli_kube_question question = {.order = "--kubernetes-look"};
    const struct cli_kube kube = cli_kube_ask(cli, &question);
    if (kube.trouble != NULL) {
        findings_add(findings, FINDING_WARN, "kubernetes",
                     "correct that, if trials are to run on Kubernetes; docs/"
                     "kubernetes.md",
                     "%s; %s", sign, kube.trouble);
        return;
    }
    show(findings, kube.said);
    if (cli->set.image != NULL)
        prove(findings);
}
