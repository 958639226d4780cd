/* backup.c - `backup`: asks the server for one; `restore` and `verify`, which
 * need no server: hypertuned itself does them. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "proto/base/clock.h"
#include "proto/base/program.h"
#include "proto/doc/json.h"

enum { LOOK_MS = 100 };

/* ---- backup ---- */

/* The folder on this machine where that is the server's, too. */
static const char *wanted_folder(struct cli *cli)
{
    const char *to = cli->set.to;
    char here[PATH_MAX];
    if (to == NULL || to[0] == '/' || cli_named_server(cli) != NULL ||
        getcwd(here, sizeof here) == NULL)
        return to;
    return arena_printf(cli->arena, "%s/%s", here, to);
}

/* CLI_DONE with what the server says of its backups once the request is
 * answered. */
static int wait_for(struct cli *cli, int64_t number,
                    const struct node **backups)
{
    const int64_t end_ms = cli->set.timeout_ms > 0
                               ? clock_monotonic_ms() + cli->set.timeout_ms
                               : INT64_MAX;
    for (;;) {
        const struct node *server = NULL;
        struct ht_error err;
        if (cli_get(cli, "/hypertune/v1/server", &server, &err) != HT_OK)
            return cli_fail_error(cli, &err);
        *backups = node_find(server, "backups");
        if (node_get_int(*backups, "answered", 0) >= number)
            return CLI_DONE;
        if (clock_monotonic_ms() >= end_ms)
            return cli_fail(cli, CLI_OVERDUE,
                            "the backup is still being made; the server "
                            "continues with it");
        usleep(LOOK_MS * 1000);
    }
}

static int print_backup(struct cli *cli, const struct node *backups)
{
    struct text out = {0};
    const char *path = node_get_string(backups, "answer", "");
    if (path[0] == '\0')
        return cli_fail(
            cli, CLI_REFUSED, "%s",
            node_get_string(backups, "lastError", "the backup was not made"));
    if (cli_output_resource(cli->format, backups, &out))
        return cli_print(&out);
    text_printf(&out, "%s\n", path);
    return cli_print(&out);
}

int cli_backup(struct cli *cli)
{
    struct cli_http_answer answer;
    struct ht_error err;
    const struct node *backups = NULL;
    cJSON *body = cJSON_CreateObject();
    int code = cli_connect(cli);
    json_add_text(body, "to", wanted_folder(cli));
    const char *text = json_text(cli->arena, body);
    if (code != CLI_DONE)
        return code;
    if (cli_call(cli, "POST", "/hypertune/v1/backups", text, &answer, &err) !=
        HT_OK)
        return cli_fail_error(cli, &err);
    code = wait_for(cli, node_get_int(answer.root, "number", 0), &backups);
    return code == CLI_DONE ? print_backup(cli, backups) : code;
}

/* ---- without a server ---- */

static int run_server_program(struct cli *cli, const char *const words[])
{
    const char *path = program_find(cli->arena, "hypertuned");
    char *argv[6] = {0};
    for (size_t i = 0; words[i] != NULL; i++)
        argv[i] = arena_strdup(cli->arena, words[i]);
    execvp(path, argv);
    return cli_fail(cli, CLI_REFUSED, "cannot start %s: %s", path,
                    strerror(errno));
}

int cli_verify(struct cli *cli)
{
    const char *words[] = {"hypertuned", "verify", cli->args.words.items[0],
                           NULL};
    return run_server_program(cli, words);
}

int cli_restore(struct cli *cli)
{
    const char *folder = cli_state_folder(cli);
    if (folder == NULL)
        return cli_fail(cli, CLI_USAGE, "HOME is not set: say --data DIR");
    const char *words[] = {"hypertuned",
                           "restore",
                           cli->args.words.items[0],
                           folder,
                           cli->set.replace ? "--replace" : NULL,
                           NULL};
    return run_server_program(cli, words);
}
