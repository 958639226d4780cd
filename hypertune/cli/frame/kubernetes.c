#include "hypertune/cli/frame/kubernetes.h"

#include <string.h>

#include "hypertune/cli/frame/spawn.h"
#include "proto/base/program.h"

/* Each call has 30 s, and there may be one for each of some objects. */
enum { MOST_MS = 180000 };

enum { OPTIONS = 3 };

/* Flags of the command line, and those of the runner of the same name. */
static void list_options(const struct cli *cli, struct pair options[])
{
    const struct cli_settings *set = &cli->set;
    options[0] = (struct pair){"--kubernetes-config", set->kube_config};
    options[1] = (struct pair){"--kubernetes-context", set->kube_context};
    options[2] = (struct pair){"--kubernetes-namespace", set->kube_namespace};
}

const char *cli_kube_flag(const struct cli *cli)
{
    struct pair options[OPTIONS];
    list_options(cli, options);
    for (size_t i = 0; i < OPTIONS; i++)
        if (options[i].value != NULL)
            return options[i].name;
    return NULL;
}

struct cli_kube cli_kube_ask(struct cli *cli, const char *order,
                             const char *input)
{
    const char *runner = program_find(cli->arena, "hypertune-runner");
    const char *output = "";
    struct pair options[OPTIONS];
    struct words argv = {0};
    list_options(cli, options);
    words_add(cli->arena, &argv, runner);
    words_add(cli->arena, &argv, order);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (options[i].value == NULL)
            continue;
        words_add(cli->arena, &argv, options[i].name);
        words_add(cli->arena, &argv, options[i].value);
    }
    words_add(cli->arena, &argv, NULL);
    const int code =
        cli_spawn_feed(cli->arena, argv.items, input, MOST_MS, &output);
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
