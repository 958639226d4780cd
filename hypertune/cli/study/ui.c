/* `ui`: a link that logs a browser in to the dashboard, once. */
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/spawn.h"
#include "hypertune/cli/study/study.h"
#include "proto/doc/json.h"

/* The port of a URL whose host is this machine for itself alone; NULL. */
static const char *loopback_port(const char *url)
{
    static const char *const hosts[] = {
        "http://127.0.0.1:", "http://localhost:", "http://[::1]:"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (strncmp(url, hosts[i], strlen(hosts[i])) == 0)
            return url + strlen(hosts[i]);
    return NULL;
}

/* The command that brings the server's port to the machine in front of which
 * the person sits; NULL when they sit here, or need none. SSH_CONNECTION is
 * "CLIENT PORT SERVER PORT". */
static const char *ssh_command(struct cli *cli, const char *url)
{
    const char *connection = cli_variable(cli, "SSH_CONNECTION");
    const char *port = loopback_port(url), *user = cli_variable(cli, "USER");
    const char *part[4];
    size_t n = 0;
    if (connection == NULL || port == NULL)
        return NULL;
    char *rest = arena_strdup(cli->arena, connection), *word;
    while (n < 4 && (word = strsep(&rest, " ")) != NULL)
        part[n++] = word;
    if (n < 4)
        return NULL;
    user = user != NULL ? user : cli_variable(cli, "LOGNAME");
    const char *at = user == NULL ? "" : "@";
    const char *other = strcmp(part[3], "22") == 0
                            ? ""
                            : arena_printf(cli->arena, "-p %s ", part[3]);
    return arena_printf(cli->arena, "ssh %s-L %s:127.0.0.1:%s %s%s%s", other,
                        port, port, user == NULL ? "" : user, at, part[2]);
}

/* Whoever sits in front of a screen of this machine sees a browser. */
static bool has_screen(const struct cli *cli)
{
    return cli->out_tty && !cli->set.no_open &&
           cli_variable(cli, "SSH_CONNECTION") == NULL &&
           (cli_variable(cli, "DISPLAY") != NULL ||
            cli_variable(cli, "WAYLAND_DISPLAY") != NULL);
}

static void open_browser(struct cli *cli, const char *link)
{
    const char *const args[] = {link, NULL};
    const struct cli_spawn spawn = {
        .program = "xdg-open", .args = args, .folder = "/", .log = "dev/null"};
    pid_t pid;
    struct ht_error err;
    if (cli_spawn_detached(cli->arena, &spawn, &pid, &err) != HT_OK)
        cli_say(cli, "no browser was opened: %s", err.text);
}

static int show(struct cli *cli, const char *link, const char *until)
{
    const char *ssh = ssh_command(cli, cli_http_url(cli->http));
    struct text out = {0};
    if (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL) {
        cJSON *object = cJSON_CreateObject();
        json_add_string(object, "url", link);
        json_add_string(object, "expireTime", until);
        if (ssh != NULL)
            json_add_string(object, "ssh", ssh);
        json_print(object, &out);
        text_puts(&out, "\n");
        return cli_print(&out);
    }
    text_printf(&out, "%s\n", link);
    if (ssh != NULL)
        cli_say(cli,
                "you are here by ssh; first run this on your own machine:\n"
                "  %s",
                ssh);
    cli_say(cli, "the link works once, for ten minutes");
    return cli_print(&out);
}

/* The study as it was named: the pages find it in the same way. */
static const char *page_of(struct cli *cli, const char *study)
{
    return study == NULL ? ""
                         : arena_printf(cli->arena, "&to=studies/%s",
                                        cli_http_segment(cli->arena, study));
}

int cli_ui(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    struct cli_study study;
    struct cli_http_answer answer;
    struct ht_error err;
    if (words->n > 1 || cli->args.has_rest)
        return cli_wants(cli, 1) ? CLI_DONE : CLI_USAGE;
    const char *name = words->n == 1 ? words->items[0] : NULL;
    int code =
        name != NULL ? cli_study_open(cli, name, &study) : cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    if (cli_call(cli, "POST", "/hypertune/v1/login-links", "{}", &answer,
                 &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const char *link = arena_printf(
        cli->arena, "%s%s%s", cli_http_url(cli->http),
        node_get_string(answer.root, "path", ""), page_of(cli, name));
    code = show(cli, link, node_get_string(answer.root, "expireTime", ""));
    if (code == CLI_DONE && has_screen(cli))
        open_browser(cli, link);
    return code;
}
