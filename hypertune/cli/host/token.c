/* token.c - `token`: makes, lists, rotates and ends the server's named tokens;
 * `share`: a link to one study. */

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/clock.h"
#include "proto/doc/json.h"

#define TOKENS "/hypertune/v1/tokens"

static const char *text_of(const struct node *token, const char *name)
{
    return node_get_string(token, name, "");
}

static const char *path_of(struct cli *cli, const char *verb)
{
    return arena_printf(cli->arena, TOKENS "/%s%s",
                        cli_http_segment(cli->arena, cli->args.words.items[1]),
                        verb);
}

/* The server's URL for other machines. */
static const char *url_of(struct cli *cli, const struct node *server)
{
    return node_get_string(server, "https", cli_http_url(cli->http));
}

/* What makes another machine a runner. */
static void say_join(struct cli *cli, const struct node *token)
{
    const struct node *server = NULL;
    struct ht_error err;
    if (cli_get(cli, "/hypertune/v1/server", &server, &err) != HT_OK)
        return;
    const char *pins = text_of(server, "tlsPins");
    const char *url = url_of(cli, server);
    cli_say(cli,
            "token %s, role join, ends at %s: above is its secret, which the "
            "server does not keep. Once, on the machine that is to run "
            "trials:\n"
            "  hypertune runner join %s%s%s%s --token TOKEN",
            text_of(token, "name"), text_of(token, "expireTime"), url,
            pins[0] != '\0' ? " --pin '" : "", pins,
            pins[0] != '\0' ? "'" : "");
}

/* The secret is alone on stdout, so that a script can keep it in a file. */
static int print_secret(struct cli *cli, const struct node *token)
{
    struct text out = {0};
    const char *expires = text_of(token, "expireTime");
    if (cli_output_resource(cli->format, token, &out))
        return cli_print(&out);
    text_printf(&out, "%s\n", text_of(token, "secret"));
    const int code = cli_print(&out);
    if (code == CLI_DONE && strcmp(text_of(token, "role"), "join") == 0)
        say_join(cli, token);
    else if (code == CLI_DONE)
        cli_say(
            cli,
            "token %s, role %s%s%s%s%s: above is its secret, which the "
            "server does not keep. Use it from a file: --token-file FILE or "
            "HYPERTUNE_TOKEN_FILE",
            text_of(token, "name"), text_of(token, "role"),
            text_of(token, "project")[0] != '\0' ? ", project " : "",
            text_of(token, "project"), expires[0] != '\0' ? ", ends at " : "",
            expires);
    return code;
}

static int post(struct cli *cli, const char *path, cJSON *body,
                const struct node **token)
{
    struct cli_http_answer answer;
    struct ht_error err;
    if (cli_call(cli, "POST", path, json_text(cli->arena, body), &answer,
                 &err) != HT_OK)
        return cli_fail_error(cli, &err);
    *token = answer.root;
    return CLI_DONE;
}

static void add_option(cJSON *body, const char *name, const char *value)
{
    if (value != NULL)
        json_add_string(body, name, value);
}

static int create(struct cli *cli)
{
    const struct node *token = NULL;
    if (cli->set.role == NULL)
        return cli_fail(cli, CLI_USAGE,
                        "token create needs --role: admin, submit, read, "
                        "runner or join");
    cJSON *body = cJSON_CreateObject();
    json_add_string(body, "name", cli->args.words.items[1]);
    json_add_string(body, "role", cli->set.role);
    add_option(body, "project", cli->set.project);
    add_option(body, "expire", cli->set.expire);
    const int code = post(cli, TOKENS, body, &token);
    return code == CLI_DONE ? print_secret(cli, token) : code;
}

static int rotate(struct cli *cli)
{
    const struct node *token = NULL;
    cJSON *body = cJSON_CreateObject();
    add_option(body, "grace", cli->set.grace);
    const int code = post(cli, path_of(cli, ":rotate"), body, &token);
    return code == CLI_DONE ? print_secret(cli, token) : code;
}

static int revoke(struct cli *cli)
{
    const struct node *token = NULL;
    struct text out = {0};
    const int code =
        post(cli, path_of(cli, ":revoke"), cJSON_CreateObject(), &token);
    if (code != CLI_DONE)
        return code;
    if (cli_output_resource(cli->format, token, &out))
        return cli_print(&out);
    cli_say(cli, "token %s has ended", text_of(token, "name"));
    return CLI_DONE;
}

static int delete (struct cli *cli)
{
    struct cli_http_answer answer;
    struct ht_error err;
    if (cli_call(cli, "DELETE", path_of(cli, ""), NULL, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "token %s is deleted", cli->args.words.items[1]);
    return CLI_DONE;
}

/* --- share --- */

/* Browsers send what is behind "#" to no server. */
static int print_link(struct cli *cli, const struct node *token,
                      const char *server)
{
    struct text out = {0};
    const char *expires = text_of(token, "expireTime");
    const char *link =
        arena_printf(cli->arena, "%s/#token=%s&to=studies/%s", server,
                     text_of(token, "secret"), text_of(token, "study"));
    if (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL) {
        cJSON *object = cJSON_CreateObject();
        json_add_string(object, "url", link);
        json_add_string(object, "name", text_of(token, "name"));
        json_add_string(object, "expireTime", expires);
        json_print(object, &out);
        text_puts(&out, "\n");
        return cli_print(&out);
    }
    text_printf(&out, "%s\n", link);
    cli_say(cli,
            "this link shows the study until %s to everyone who has it; to end "
            "it: hypertune token revoke %s",
            expires, text_of(token, "name"));
    return cli_print(&out);
}

int cli_share(struct cli *cli)
{
    struct cli_study study;
    const struct node *server = NULL, *token = NULL;
    struct ht_error err;
    int code = cli_study_open(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    if (cli_get(cli, "/hypertune/v1/server", &server, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cJSON *body = cJSON_CreateObject();
    json_add_string(body, "role", "share");
    json_add_string(body, "study", study.id);
    add_option(body, "expire", cli->set.expire);
    code = post(cli, TOKENS, body, &token);
    return code == CLI_DONE ? print_link(cli, token, url_of(cli, server))
                            : code;
}

/* --- list --- */

static const char *state_of(const struct node *token, int64_t now_ms)
{
    int64_t ms;
    if (text_of(token, "revokeTime")[0] != '\0')
        return "revoked";
    if (clock_read_stamp(text_of(token, "expireTime"), &ms) && ms <= now_ms)
        return "expired";
    return "valid";
}

static const char *or_nothing(const struct cli *cli, const char *text)
{
    return text[0] != '\0' ? text : cli_output_nothing(cli);
}

static int list(struct cli *cli)
{
    const struct node *answer;
    struct ht_error err;
    if (cli_get(cli, TOKENS, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    struct text out = {0};
    size_t n = 0;
    const int64_t now_ms = clock_wall_ms();
    struct table *table = table_new(cli->arena);
    table_columns(table,
                  "NAME,ROLE,PROJECT,STUDY,RUNNER,STATE,EXPIRES,CREATED,BY");
    table_spare(table, "BY CREATED RUNNER STUDY");
    NODE_EACH (token, node_items(node_find(answer, "tokens"))) {
        if (cli_output_item(cli->format, token, n++, &out))
            continue;
        table_row(table);
        table_cells(
            table, text_of(token, "name"), text_of(token, "role"),
            or_nothing(cli, text_of(token, "project")),
            or_nothing(cli, text_of(token, "study")),
            or_nothing(cli, text_of(token, "runner")), state_of(token, now_ms),
            or_nothing(cli, text_of(token, "expireTime")),
            text_of(token, "createTime"), text_of(token, "createdBy"), NULL);
    }
    cli_output_table(cli, table, &out);
    cli_output_end(cli->format, n, &out);
    return cli_print(&out);
}

int cli_token(struct cli *cli)
{
    static const struct {
        const char *name;
        int (*run)(struct cli *cli);
        size_t words;
    } verbs[] = {{"create", create, 2},
                 {"list", list, 1},
                 {"rotate", rotate, 2},
                 {"revoke", revoke, 2},
                 {"delete", delete, 2}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, cli->args.words.items[0]) != 0)
            continue;
        if (cli->args.words.n != verbs[i].words)
            break;
        const int code = cli_connect(cli);
        return code == CLI_DONE ? verbs[i].run(cli) : code;
    }
    return cli_usage(cli);
}
