/* kubernetes.c - the check of `doctor` of a Kubernetes cluster. */

#include <string.h>

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/frame/spawn.h"
#include "hypertune/cli/host/findings.h"
#include "proto/base/program.h"
#include "proto/doc/node.h"

enum { MOST_MS = 70000 }; /* of two calls of 30 s */

/* Why there seems to be a cluster; NULL: there is none. */
static const char *find_sign(struct cli *cli)
{
    static const char *const names[] = {"HYPERTUNE_RUNNER_KUBERNETES_CONFIG",
                                        "KUBECONFIG",
                                        "KUBERNETES_SERVICE_HOST"};
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
    if (role != NULL)
        findings_add(findings, FINDING_WARN, "kubernetes",
                     arena_printf(findings->cli->arena,
                                  "let an admin bind this Role:\n%s", role),
                     "some rights in the namespace are missing");
}

void kubernetes_examine(struct findings *findings)
{
    struct cli *cli = findings->cli;
    const char *output = "", *trouble;
    const char *sign = find_sign(cli);
    if (sign == NULL)
        return;
    const char *runner = program_find(cli->arena, "hypertune-runner");
    const char *const argv[] = {runner, "--kubernetes-look", NULL};
    const int code = cli_spawn_ask(cli->arena, argv, MOST_MS, &output);
    const struct node *said = node_read_stored(cli->arena, output);
    if (said == NULL)
        trouble = arena_printf(cli->arena, "%s ended with %d", runner, code);
    else
        trouble = node_get_string(said, "error", NULL);
    if (trouble != NULL)
        findings_add(findings, FINDING_WARN, "kubernetes",
                     "correct that, if trials are to run on Kubernetes; docs/"
                     "kubernetes.md",
                     "%s; %s", sign, trouble);
    else
        show(findings, said);
}
