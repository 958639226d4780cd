#include "hypertune/cli/frame/slurm.h"

#include <string.h>

#include "hypertune/cli/frame/spawn.h"
#include "proto/base/program.h"

/* Opening, limits and test have 20 s each. */
enum { MOST_MS = 65000 };

static const char *set_variable(const struct cli *cli)
{
    static const char *const names[] = {"HYPERTUNE_RUNNER_SLURM_SSH",
                                        "HYPERTUNE_RUNNER_SLURM_REST",
                                        "SLURM_REST_URL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cli_variable(cli, names[i]) != NULL)
            return names[i];
    return NULL;
}

const char *cli_slurm_sign(struct cli *cli)
{
    const struct cli_program_query query = {
        .name = "squeue", .workdir = "/", .path = cli_variable(cli, "PATH")};
    const char *program;
    const char *variable = set_variable(cli);
    if (cli->set.slurm_ssh != NULL)
        return "--slurm-ssh names it";
    if (variable != NULL)
        return arena_printf(cli->arena, "%s names it", variable);
    return cli_program_find(cli->arena, &query, &program, NULL) == HT_OK
               ? "squeue is in PATH"
               : NULL;
}

static void add_option(struct cli *cli, struct words *argv, const char *name,
                       const char *value)
{
    if (value != NULL)
        words_add(cli->arena, argv,
                  arena_printf(cli->arena, "--%s=%s", name, value));
}

struct cli_slurm cli_slurm_ask(struct cli *cli, const char *test)
{
    const char *runner = program_find(cli->arena, "hypertune-runner");
    const char *output = "";
    struct words argv = {0};
    words_add(cli->arena, &argv, runner);
    words_add(cli->arena, &argv, "--slurm-look");
    add_option(cli, &argv, "slurm-ssh", cli->set.slurm_ssh);
    add_option(cli, &argv, "slurm-defaults", cli->set.slurm_defaults);
    add_option(cli, &argv, "slurm-test", test);
    words_add(cli->arena, &argv, NULL);
    const int code = cli_spawn_ask(cli->arena, argv.items, MOST_MS, &output);
    const struct node *said = node_read_stored(cli->arena, output);
    const char *status = node_get_string(said, "status", "");
    if (said != NULL)
        return (struct cli_slurm){
            .said = said,
            .trouble = node_get_string(said, "error", NULL),
            .refused = strcmp(status, "FAILED_PRECONDITION") == 0 ||
                       strcmp(status, "INVALID_ARGUMENT") == 0};
    /* A wrong option, in its words, or none of an older one. */
    return (struct cli_slurm){
        .trouble =
            output[0] != '\0'
                ? arena_strndup(cli->arena, output, strcspn(output, "\n"))
                : arena_printf(cli->arena, "%s ended with %d", runner, code),
        .refused = true};
}
