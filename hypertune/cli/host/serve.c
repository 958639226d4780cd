/* serve.c - `serve`, `runner` and the commands of a trial, which run
 * hypertune's other programs. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/server.h"
#include "hypertune/cli/host/join.h"
#include "hypertune/trial/commands.h"
#include "proto/base/program.h"

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

int cli_in_trial(struct cli *cli)
{
    const char *first[] = {cli->command->name};
    char **argv = make_argv(cli, first, 1);
    return trial_command_find(first[0])->run((int)cli->args.words.n + 1, argv);
}

static int exec_program(struct cli *cli, const char *program, char **argv)
{
    const char *path = program_find(cli->arena, program);
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
        return exec_program(cli, "hypertuned", make_argv(cli, bare, 1));
    }
    struct ht_error err;
    const char *folder = cli_state_folder(cli);
    if (folder == NULL)
        return cli_fail(cli, CLI_USAGE, "HOME is not set: say --data DIR");
    if (cli_server_make_folder(cli->arena, folder, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const char *first[] = {"hypertuned", "--data", folder};
    return exec_program(cli, "hypertuned", make_argv(cli, first, 3));
}

/* ---- a runner ---- */

/* Adds the flag unless it was given. */
static void add_flag(struct cli *cli, struct words *flags, const char *flag,
                     const char *value)
{
    if (value == NULL || has_flag(&cli->args.words, flag))
        return;
    words_add(cli->arena, flags, flag);
    words_add(cli->arena, flags, value);
}

/* This user's own server, which is started when it does not run. Its own
 * runners work in "runs", so another one gets a folder beside it. */
static int use_own_server(struct cli *cli, struct words *flags)
{
    struct ht_error err;
    struct cli_server_info info;
    int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    if (cli_server_find(cli->arena, cli->state_folder, &info, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    add_flag(cli, flags, "--server", info.url);
    add_flag(cli, flags, "--token-file", info.runner_token_file);
    add_flag(cli, flags, "--state",
             arena_printf(cli->arena, "%s/runner", cli->state_folder));
    return CLI_DONE;
}

static void add_trust(struct cli *cli, struct words *flags)
{
    const struct trust trust = cli_named_trust(cli);
    add_flag(cli, flags, "--ca", trust.ca);
    add_flag(cli, flags, "--pin", trust.pin);
    add_flag(cli, flags, "--cert", trust.cert);
    add_flag(cli, flags, "--key", trust.key);
    if (trust.insecure && !has_flag(&cli->args.words, "--insecure"))
        words_add(cli->arena, flags, "--insecure");
}

int cli_runner(struct cli *cli)
{
    struct words flags = {0};
    const struct words *words = &cli->args.words;
    bool complete = has_flag(words, "--server") || has_flag(words, "--help") ||
                    has_flag(words, "-h") || has_flag(words, "--version") ||
                    cli_variable(cli, "HYPERTUNE_RUNNER_SERVER") != NULL;
    int code = CLI_DONE;
    words_add(cli->arena, &flags, "hypertune-runner");
    add_trust(cli, &flags);
    if (words->n > 0 && strcmp(words->items[0], "join") == 0)
        code = cli_join(cli, &flags);
    else if (!complete && cli_named_server(cli) != NULL) {
        add_flag(cli, &flags, "--server", cli_named_server(cli));
        add_flag(cli, &flags, "--token-file", cli->set.token_file);
    } else if (!complete) {
        code = use_own_server(cli, &flags);
    }
    return code != CLI_DONE
               ? code
               : exec_program(cli, "hypertune-runner",
                              make_argv(cli, flags.items, flags.n));
}
