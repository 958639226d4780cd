#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli_commands.h"
#include "hypertune/cli_server.h"
#include "hypertune/cli_spawn.h"
#include "hypertune/trial_commands.h"

/* An argv of `first` and the command's words, ended by NULL. */
static char **make_argv(struct cli *cli, const char *const first[], size_t n)
{
    const struct words *words = &cli->args.words;
    char **argv = arena_alloc(cli->arena, n + words->n + 1, sizeof *argv);
    for (size_t i = 0; i < n; i++)
        argv[i] = arena_strdup(cli->arena, first[i]);
    for (size_t i = 0; i < words->n; i++)
        argv[n + i] = arena_strdup(cli->arena, words->items[i]);
    return argv;
}

static int call_trial(struct cli *cli, int (*command)(int, char **))
{
    const char *first[] = {cli->command->name};
    char **argv = make_argv(cli, first, 1);
    return command((int)cli->args.words.n + 1, argv);
}

int cli_report(struct cli *cli)
{
    return call_trial(cli, trial_command_report);
}

int cli_should_stop(struct cli *cli)
{
    return call_trial(cli, trial_command_should_stop);
}

int cli_params(struct cli *cli)
{
    return call_trial(cli, trial_command_params);
}

static int become(struct cli *cli, const char *program, char **argv)
{
    const char *path = cli_spawn_program(cli->arena, program);
    execvp(path, argv);
    return cli_fail(cli, CLI_REFUSED, "cannot start %s: %s", path,
                    strerror(errno));
}

static bool has_flag(const struct words *words, const char *flag)
{
    size_t len = strlen(flag);
    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->items[i];
        if (strncmp(word, flag, len) == 0 &&
            (word[len] == '\0' || word[len] == '='))
            return true;
    }
    return false;
}

int cli_serve(struct cli *cli)
{
    if (has_flag(&cli->args.words, "--data") ||
        has_flag(&cli->args.words, "--help")) {
        const char *bare[] = {"hypertuned"};
        return become(cli, "hypertuned", make_argv(cli, bare, 1));
    }
    struct cli_server_homes homes = {
        .own = cli_variable(cli, "HYPERTUNE_STATE"),
        .state = cli_variable(cli, "XDG_STATE_HOME"),
        .home = cli_variable(cli, "HOME")};
    struct ht_error err;
    const char *folder = cli_server_state_folder(cli->arena, &homes);
    if (folder == NULL)
        return cli_fail(cli, CLI_USAGE, "HOME is not set: say --data DIR");
    if (cli_server_make_folder(cli->arena, folder, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const char *first[] = {"hypertuned", "--data", folder};
    return become(cli, "hypertuned", make_argv(cli, first, 3));
}

int cli_runner(struct cli *cli)
{
    const char *first[] = {"hypertune-runner"};
    return become(cli, "hypertune-runner", make_argv(cli, first, 1));
}
