/* fleet.c - `runners`: who runs trials, and that one is to stop doing so;
 * `projects`: their shares and quotas. */

#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/connect.h"
#include "proto/base/clock.h"
#include "proto/doc/json.h"

#define PROJECTS "/hypertune/v1/projects"

/* ---- runners ---- */

static void list_cell(const struct cli *cli, struct table *table,
                      const struct node *list)
{
    struct text cell = {0};
    cli_scalars(list, &cell);
    table_cell_text(table, &cell, cli_output_nothing(cli));
}

/* A runner that drains is online all the same. */
static const char *state_of(const struct node *runner)
{
    const bool drains =
        strcmp(node_get_string(runner, "drain", "SERVES"), "SERVES") != 0;
    return drains && cli_runners_is_online(runner)
               ? "DRAINING"
               : node_get_string(runner, "state", "");
}

/* The first digits distinguish machines. */
enum { MACHINE_DIGITS = 12 };

static void add_place(struct cli *cli, struct table *table,
                      const struct node *runner)
{
    const struct node *rules = node_find(runner, "rules");
    struct text labels = {0}, trials = {0};
    const char *nothing = cli_output_nothing(cli);
    const double skew = (double)node_get_int(rules, "skewMs", 0) / 1000;
    NODE_EACH (label, node_first(rules, "labels"))
        text_printf(&labels, "%s%s=%s", labels.len > 0 ? "," : "", label->key,
                    cli_scalar(label));
    NODE_EACH (trial, node_first(runner, "trials"))
        text_printf(&trials, "%s%s/%s", trials.len > 0 ? " " : "",
                    node_get_string(trial, "study", ""),
                    node_get_string(trial, "trial", ""));
    table_cell(table, arena_printf(cli->arena, "%.*s", MACHINE_DIGITS,
                                   node_get_string(rules, "machine", nothing)));
    table_cell_text(table, &labels, nothing);
    table_cell(table, node_get_string(rules, "version", nothing));
    if (node_find(rules, "skewMs") == NULL)
        table_cell(table, nothing);
    else if (cli->format == FORMAT_CSV)
        table_cell_printf(table, "%.15g", skew);
    else
        table_cell_printf(table, "%+.1fs", skew);
    table_cell_text(table, &trials, nothing);
}

static void add_runner(struct cli *cli, struct table *table,
                       const struct node *runner, int64_t now)
{
    static const char *const lists[] = {"volumeRoots", "allow", "secrets",
                                        "credentials"};
    const struct node *rules = node_find(runner, "rules");
    const int64_t seen_ms = node_get_int(runner, "lastSeenMs", 0);
    struct text seen = {0};
    if (cli_runners_is_online(runner))
        text_puts(&seen, "now");
    else
        cli_output_age(seen_ms, now, &seen);
    table_row(table);
    table_cells(table, node_get_string(runner, "runner", ""),
                node_get_string(runner, "engine", ""),
                node_get_string(runner, "host", ""), state_of(runner),
                cli_scalar(node_find(runner, "slots")),
                cli_scalar(node_find(runner, "busy")), NULL);
    list_cell(cli, table, node_find(rules, "gpus"));
    table_cell(table, cli_runners_has_images(runner) ? "yes" : "no");
    if (cli->format == FORMAT_CSV)
        cli_output_time_cell(seen_ms, table);
    else
        table_cell(table, text_string(&seen));
    text_free(&seen);
    table_cell(table,
               node_get_string(rules, "engine", cli_output_nothing(cli)));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        list_cell(cli, table, node_find(rules, lists[i]));
    add_place(cli, table, runner);
}

/* Below the table, where there is room for reasons. */
static void add_cluster(const struct node *runner, struct text *out)
{
    const struct node *rules = node_find(runner, "rules");
    if (!cli_runners_is_online(runner) ||
        !node_get_bool(rules, "elastic", false))
        return;
    text_print_safe(out, "%s: %s (%s) · ",
                    node_get_string(runner, "runner", ""),
                    node_get_string(runner, "engine", ""),
                    node_get_string(rules, "engine", "?"));
    cli_runners_add_elements(runner, out);
    text_puts(out, "\n");
}

static int list(struct cli *cli)
{
    struct ht_error err;
    const struct node *answer;
    struct text out = {0}, clusters = {0};
    size_t n = 0;
    const int64_t now = clock_wall_ms();
    struct table *table = table_new(cli->arena);
    const int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    if (cli_get(cli, "/hypertune/v1/runners", &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    table_columns(table,
                  "RUNNER,ENGINE,HOST,STATE,>SLOTS,>BUSY,GPUS,IMAGES,SEEN");
    if (cli->format == FORMAT_WIDE || cli->format == FORMAT_CSV)
        table_columns(table, "WITH,VOLUMES,ALLOW,SECRETS,CREDENTIALS,MACHINE,"
                             "LABELS,VERSION,SKEW,TRIALS");
    NODE_EACH (runner, node_first(answer, "runners")) {
        if (cli->format == FORMAT_NAME)
            text_print_safe(&out, "%s\n",
                            node_get_string(runner, "runner", ""));
        else if (!cli_output_item(cli->format, runner, n, &out))
            add_runner(cli, table, runner, now);
        add_cluster(runner, &clusters);
        n++;
    }
    if (n > 0 || cli->format == FORMAT_CSV)
        cli_output_table(cli, table, &out);
    else
        cli_say(cli, "no runners; \"hypertune runner\" offers this machine");
    cli_output_end(cli->format, n, &out);
    if (cli->format == FORMAT_TABLE || cli->format == FORMAT_WIDE)
        text_puts(&out, text_string(&clusters));
    text_free(&clusters);
    return cli_print(&out);
}

/* `drain` and `resume`. */
static int order(struct cli *cli, const char *verb)
{
    struct cli_http_answer answer;
    struct ht_error err;
    const char *name = cli->args.words.items[1];
    const int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    cJSON *body = cJSON_CreateObject();
    if (cli->set.move)
        json_add_bool(body, "move", true);
    const char *path = arena_printf(cli->arena, "/hypertune/v1/runners/%s:%s",
                                    cli_http_segment(cli->arena, name), verb);
    if (cli_call(cli, "POST", path, json_text(cli->arena, body), &answer,
                 &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const long long running = node_get_int(answer.root, "running", 0);
    if (strcmp(verb, "resume") == 0)
        cli_say(cli, "runner %s gets trials again", name);
    else if (cli->set.move)
        cli_say(cli,
                "runner %s gets no new trials; of %lld that run %lld continue "
                "elsewhere",
                name, running,
                (long long)node_get_int(answer.root, "moving", 0));
    else
        cli_say(cli, "runner %s gets no new trials; %lld still run%s", name,
                running, running == 1 ? "s" : "");
    return CLI_DONE;
}

int cli_list_runners(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    if (words->n == 0)
        return cli->set.move || cli->args.has_rest ? cli_usage(cli) : list(cli);
    if (words->n == 2 && strcmp(words->items[0], "connect") == 0 &&
        !cli->set.move)
        return cli_connect_login(cli, words->items[1]);
    const bool drains = strcmp(words->items[0], "drain") == 0;
    if (words->n != 2 || cli->args.has_rest ||
        (!drains && (cli->set.move || strcmp(words->items[0], "resume") != 0)))
        return cli_usage(cli);
    return order(cli, words->items[0]);
}

/* ---- projects ---- */

static void add_project(const struct cli *cli, struct table *table,
                        const struct node *project)
{
    const char *nothing = cli_output_nothing(cli);
    table_row(table);
    table_cells(table, node_get_string(project, "name", ""),
                cli_scalar(node_find(project, "share")),
                cli_scalar(node_find(project, "busySlots")),
                node_get_int(project, "slots", 0) > 0
                    ? cli_scalar(node_find(project, "slots"))
                    : nothing,
                cli_scalar(node_find(project, "busyGpus")),
                node_get_double(project, "gpus", 0) > 0
                    ? cli_scalar(node_find(project, "gpus"))
                    : nothing,
                cli_scalar(node_find(project, "usedSlotSeconds")), NULL);
}

static int list_projects(struct cli *cli)
{
    struct ht_error err;
    struct text out = {0};
    const struct node *answer;
    size_t n = 0;
    struct table *table = table_new(cli->arena);
    if (cli_get(cli, PROJECTS, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    table_columns(table,
                  "PROJECT,>SHARE,>BUSY,>SLOTS,>BUSY GPUS,>GPUS,>SLOT SECONDS");
    NODE_EACH (project, node_first(answer, "projects")) {
        if (cli->format == FORMAT_NAME)
            text_print_safe(&out, "%s\n", node_get_string(project, "name", ""));
        else if (!cli_output_item(cli->format, project, n, &out))
            add_project(cli, table, project);
        n++;
    }
    cli_output_table(cli, table, &out);
    cli_output_end(cli->format, n, &out);
    return cli_print(&out);
}

/* share=2, slots=10 or gpus=4 into the body. */
static bool add_limit(cJSON *body, const char *word)
{
    static const char *const names[] = {"share", "slots", "gpus"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t len = strlen(names[i]);
        char *end;
        if (strncmp(word, names[i], len) != 0 || word[len] != '=')
            continue;
        const double value = strtod(word + len + 1, &end);
        if (end == word + len + 1 || *end != '\0')
            return false;
        json_add_double(body, names[i], value);
        return true;
    }
    return false;
}

static int set_project(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    struct cli_http_answer answer;
    struct ht_error err;
    cJSON *body = cJSON_CreateObject();
    for (size_t i = 2; i < words->n; i++) {
        if (add_limit(body, words->items[i]))
            continue;
        cJSON_Delete(body);
        return cli_fail(cli, CLI_USAGE,
                        "%s is not share=NUMBER, slots=NUMBER or gpus=NUMBER",
                        words->items[i]);
    }
    const char *path =
        arena_printf(cli->arena, PROJECTS "/%s",
                     cli_http_segment(cli->arena, words->items[1]));
    if (cli_call(cli, "PATCH", path, json_text(cli->arena, body), &answer,
                 &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "project %s: share %s, slots %s, gpus %s (0: no limit)",
            words->items[1], cli_scalar(node_find(answer.root, "share")),
            cli_scalar(node_find(answer.root, "slots")),
            cli_scalar(node_find(answer.root, "gpus")));
    return CLI_DONE;
}

int cli_projects(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    if (words->n > 0 && (strcmp(words->items[0], "set") != 0 || words->n < 3))
        return cli_usage(cli);
    const int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    return words->n > 0 ? set_project(cli) : list_projects(cli);
}
