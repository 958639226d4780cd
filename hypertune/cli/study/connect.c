#include "hypertune/cli/study/connect.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/spawn.h"
#include "proto/net/ssh_control.h"

static void add(struct cli *cli, struct words *words, const char *const more[])
{
    for (; *more != NULL; more++)
        words_add(cli->arena, words, *more);
}

/* As execvp() takes them. */
static char **as_argv(struct cli *cli, const struct words *words)
{
    char **argv = arena_alloc(cli->arena, words->n + 1, sizeof *argv);
    for (size_t i = 0; i < words->n; i++)
        argv[i] = arena_strdup(cli->arena, words->items[i]);
    return argv;
}

int cli_connect_login(struct cli *cli, const char *host)
{
    struct ht_error err;
    const char *path, *output;
    if (ssh_control_path(cli->arena, NULL, host, &path, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const char *control = arena_printf(cli->arena, "ControlPath=%s", path);
    const char *const check[] = {"ssh",   "-o", control, "-O",
                                 "check", "--", host,    NULL};
    /* A second master would be of no use to anyone. */
    if (cli_spawn_ask(cli->arena, check, CLI_SPAWN_MS, &output) == 0) {
        cli_say(cli, "the connection to %s is open already", host);
        return CLI_DONE;
    }
    struct words words = {0};
    add(cli, &words, (const char *const[]){"ssh", "-N", "-f", NULL});
    /* "auto" replaces the socket of a master that was killed, "yes" does not.
     */
    add(cli, &words,
        (const char *const[]){"-o", "ControlMaster=auto", "-o",
                              "ControlPersist=yes", "-o",
                              "ServerAliveInterval=30", "-o", control, NULL});
    for (size_t i = 0; i < cli->args.rest.n; i++)
        words_add(cli->arena, &words, cli->args.rest.items[i]);
    add(cli, &words, (const char *const[]){"--", host, NULL});
    execvp("ssh", as_argv(cli, &words));
    return cli_fail(cli, CLI_REFUSED, "cannot start ssh: %s", strerror(errno));
}
