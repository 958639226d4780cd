#include "hypertune/cli/frame/kubernetes.h"

#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/spawn.h"
#include "proto/base/program.h"

/* Each call has 30 s, and there may be one for each of some objects. */
enum { MOST_MS = 180000 };

void cli_kube_options(const struct cli *cli, struct pair options[])
{
    const struct cli_settings *set = &cli->set;
    options[0] = (struct pair){"--kubernetes-config", set->kube_config};
    options[1] = (struct pair){"--kubernetes-context", set->kube_context};
    options[2] = (struct pair){"--kubernetes-namespace", set->kube_namespace};
}

const char *cli_kube_flag(const struct cli *cli)
{
    struct pair options[CLI_KUBE_OPTIONS];
    cli_kube_options(cli, options);
    for (size_t i = 0; i < CLI_KUBE_OPTIONS; i++)
        if (options[i].value != NULL)
            return options[i].name;
    return NULL;
}

bool cli_kube_is_known(const struct cli *cli)
{
    static const char *const names[] = {"HYPERTUNE_RUNNER_KUBERNETES_CONFIG",
                                        "KUBECONFIG",
                                        "KUBERNETES_SERVICE_HOST"};
    const char *home = cli_variable(cli, "HOME");
    bool known = cli_kube_flag(cli) != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        known = known || cli_variable(cli, names[i]) != NULL;
    return known || (home != NULL &&
                     access(arena_printf(cli->arena, "%s/.kube/config", home),
                            R_OK) == 0);
}

static void add_option(struct arena *arena, struct words *argv,
                       const char *name, const char *value)
{
    if (value == NULL)
        return;
    words_add(arena, argv, name);
    words_add(arena, argv, value);
}

struct cli_kube cli_kube_ask(struct cli *cli,
                             const struct cli_kube_question *question)
{
    const char *runner = program_find(cli->arena, "hypertune-runner");
    const char *output = "";
    struct pair options[CLI_KUBE_OPTIONS];
    struct words argv = {0};
    cli_kube_options(cli, options);
    words_add(cli->arena, &argv, runner);
    words_add(cli->arena, &argv, question->order);
    for (size_t i = 0; i < CLI_KUBE_OPTIONS; i++)
        add_option(cli->arena, &argv, options[i].name, options[i].value);
    if (question->limit_ms > 0)
        add_option(cli->arena, &argv, "--start-limit",
                   arena_printf(cli->arena, "%lld",
                                (long long)(question->limit_ms + 999) / 1000));
    words_add(cli->arena, &argv, NULL);
    const int code = cli_spawn_feed(cli->arena, argv.items, question->input,
                                    MOST_MS + question->limit_ms, &output);
    const struct node *said = node_read_stored(cli->arena, output);
    if (said != NULL)
        return (struct cli_kube){said, node_get_string(said, "error", NULL)};
    /* A wrong option, in its words. */
    return (struct cli_kube){
        .trouble =
            code > 0 && output[0] != '\0'
                ? arena_strndup(cli->arena, output, strcspn(output, "\n"))
                : arena_printf(cli->arena, "%s ended with %d", runner, code)};
}
