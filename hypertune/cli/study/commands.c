/* commands.c - small commands: importance, health, ui. */

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/spawn.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"
#include "proto/doc/json.h"

/* What the server's models say of the study and the metric that are named. */
static int ask_model(struct cli *cli, const char *what,
                     const struct node **answer)
{
    struct ht_error err;
    const int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    const char *path =
        cli_study_path(cli, cli->args.words.items[0], "%s", what);
    path = cli_query(cli, path, "metric", cli->set.metric);
    return cli_get(cli, path, answer, &err) == HT_OK
               ? CLI_DONE
               : cli_fail_error(cli, &err);
}

/* ---- importance: how much each parameter matters ---- */

/* In percent for people, as it is for programs. */
static void share_cell(const struct cli *cli, struct table *table,
                       const struct node *item, const char *key)
{
    const double share = node_get_double(item, key, 0);
    if (cli->format == FORMAT_CSV)
        table_cell_printf(table, "%.6g", share);
    else
        table_cell_printf(table, "%.0f %%", 100 * share);
}

/* One number; the others with -o wide and -o csv. */
static struct table *make_table(struct cli *cli, const struct node *list)
{
    const bool wide = cli->format != FORMAT_TABLE;
    struct table *table = table_new(cli->arena);
    table_columns(table, "PARAMETER,>IMPORTANCE");
    if (wide)
        table_columns(table, ">ALONE,>WITH OTHERS,>AMONG THE BEST");
    NODE_EACH (item, node_items(list)) {
        table_row(table);
        table_cell(table, node_get_string(item, "parameter", ""));
        if (cli->format == FORMAT_CSV || node_get_bool(item, "certain", false))
            share_cell(cli, table, item, "importance");
        else
            table_cell(table, "-");
        if (!wide)
            continue;
        share_cell(cli, table, item, "alone");
        share_cell(cli, table, item, "total");
        share_cell(cli, table, item, "share");
    }
    return table;
}

static void explain(struct cli *cli, const struct node *answer)
{
    bool certain = true;
    NODE_EACH (item, node_first(answer, "importances"))
        certain = certain && node_get_bool(item, "certain", false);
    cli_say(cli,
            "share of the variation of %s that the parameter explains, from "
            "%lld results%s",
            node_get_string(answer, "metric", ""),
            (long long)node_get_int(answer, "trials", 0),
            certain ? "" : "; -: cannot be told from no effect");
    /* A study with several metrics has importances for each. */
    const struct node *first = node_first(answer, "metrics");
    NODE_EACH (one, cli->set.metric == NULL ? first : NULL)
        if (one != first)
            cli_say(cli, "for %s: --metric %s", cli_scalar(one),
                    cli_scalar(one));
    if (cli->format != FORMAT_WIDE)
        return;
    cli_say(cli, "ALONE: whatever the others are; WITH OTHERS: with all of "
                 "each interaction, which IMPORTANCE shares out");
    cli_say(cli, "AMONG THE BEST: how far the best tenth of the results lies "
                 "apart from all, as parts of 100 %%");
}

int cli_importance(struct cli *cli)
{
    struct text out = {0};
    const struct node *answer;
    const int code = ask_model(cli, "/importances", &answer);
    if (code != CLI_DONE)
        return code;
    const struct node *list = node_find(answer, "importances");
    if (node_items(list) == NULL)
        return cli_fail(cli, CLI_ABSENT,
                        "%lld trials have a result, importances need %lld",
                        (long long)node_get_int(answer, "trials", 0),
                        (long long)node_get_int(answer, "least", 0));
    if (!cli_output_item(cli->format, answer, 0, &out))
        cli_output_table(cli, make_table(cli, list), &out);
    if (cli_is_table(cli))
        explain(cli, answer);
    cli_output_end(cli->format, 1, &out);
    return cli_print(&out);
}

/* ---- health: what results show of the search ---- */

static void show_findings(struct cli *cli, const struct node *findings,
                          struct text *out)
{
    NODE_EACH (one, findings) {
        const char *command = node_get_string(one, "command", NULL);
        text_print_safe(out, "%s\n", node_get_string(one, "text", ""));
        if (command != NULL)
            text_print_safe(out, "    %s%s\n", command, cli_where(cli));
    }
}

static void list_findings(struct cli *cli, const struct node *findings,
                          struct text *out)
{
    static const char *const keys[] = {"kind", "severity", "text", "command"};
    struct table *table = table_new(cli->arena);
    table_columns(table, "KIND,SEVERITY,TEXT,COMMAND");
    NODE_EACH (one, findings) {
        table_row(table);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            table_cell(table, node_get_string(one, keys[i], ""));
    }
    cli_output_table(cli, table, out);
}

int cli_health(struct cli *cli)
{
    struct text out = {0};
    const struct node *answer;
    const int code = ask_model(cli, "/health", &answer);
    if (code != CLI_DONE)
        return code;
    const struct node *findings = node_first(answer, "findings");
    if (cli->format == FORMAT_CSV)
        list_findings(cli, findings, &out);
    else if (!cli_output_item(cli->format, answer, 0, &out))
        show_findings(cli, findings, &out);
    if (cli_is_table(cli) && findings == NULL)
        cli_say(cli, "nothing was found in %lld results; it takes %lld",
                (long long)node_get_int(answer, "results", 0),
                (long long)node_get_int(answer, "least", 0));
    cli_output_end(cli->format, 1, &out);
    return cli_print(&out);
}

/* ---- ui: a link that logs a browser in to the dashboard, once ---- */

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

/* For a user who sits at a screen of this machine. */
static void open_browser(struct cli *cli, const char *link)
{
    const char *const args[] = {link, NULL};
    const struct cli_spawn spawn = {
        .program = "xdg-open", .args = args, .folder = "/", .log = "dev/null"};
    pid_t pid;
    struct ht_error err;
    const bool has_screen = cli->out_tty && !cli->set.no_open &&
                            cli_variable(cli, "SSH_CONNECTION") == NULL &&
                            (cli_variable(cli, "DISPLAY") != NULL ||
                             cli_variable(cli, "WAYLAND_DISPLAY") != NULL);
    if (has_screen &&
        cli_spawn_detached(cli->arena, &spawn, &pid, &err) != HT_OK)
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
        json_add_text(object, "ssh", ssh);
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

int cli_ui(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    struct cli_study study;
    struct cli_http_answer answer;
    struct ht_error err;
    const char *name = words->n == 1 ? words->items[0] : NULL;
    int code =
        name != NULL ? cli_study_open(cli, name, &study) : cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    if (cli_call(cli, "POST", "/hypertune/v1/login-links", "{}", &answer,
                 &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const char *link =
        arena_printf(cli->arena, "%s%s%s%s", cli_http_url(cli->http),
                     node_get_string(answer.root, "path", ""),
                     name != NULL ? "&to=studies/" : "",
                     name != NULL ? cli_http_segment(cli->arena, name) : "");
    code = show(cli, link, node_get_string(answer.root, "expireTime", ""));
    if (code == CLI_DONE)
        open_browser(cli, link);
    return code;
}
