/* hypertune importance STUDY: how much each parameter matters. */
#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"

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

/* One number; what stands beside it only where it is asked for. */
static struct table *make_table(struct cli *cli, const struct node *list)
{
    const bool wide = cli->format != FORMAT_TABLE;
    struct table *table = table_new(cli->arena);
    table_column(table, "PARAMETER", ALIGN_LEFT);
    table_column(table, "IMPORTANCE", ALIGN_RIGHT);
    if (wide) {
        table_column(table, "ALONE", ALIGN_RIGHT);
        table_column(table, "WITH OTHERS", ALIGN_RIGHT);
        table_column(table, "AMONG THE BEST", ALIGN_RIGHT);
    }
    for (const struct node *item = list ? list->first : NULL; item != NULL;
         item = item->next) {
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

static bool all_certain(const struct node *list)
{
    for (const struct node *item = list->first; item != NULL; item = item->next)
        if (!node_get_bool(item, "certain", false))
            return false;
    return true;
}

/* A study with several metrics has importances for each. */
static void say_others(struct cli *cli, const struct node *answer)
{
    const struct node *list = node_find(answer, "metrics");
    if (cli->set.metric != NULL || list == NULL)
        return;
    for (const struct node *one = list->first; one != NULL; one = one->next)
        if (one != list->first)
            cli_say(cli, "for %s: --metric %s", cli_scalar(one),
                    cli_scalar(one));
}

static void explain(struct cli *cli, const struct node *answer)
{
    cli_say(cli,
            "share of the variation of %s that the parameter explains, from "
            "%lld results%s",
            node_get_string(answer, "metric", ""),
            (long long)node_get_int(answer, "trials", 0),
            all_certain(node_find(answer, "importances"))
                ? ""
                : "; -: cannot be told from no effect");
    say_others(cli, answer);
    if (cli->format != FORMAT_WIDE)
        return;
    cli_say(cli, "ALONE: whatever the others are; WITH OTHERS: with all of "
                 "each interaction, which IMPORTANCE shares out");
    cli_say(cli, "AMONG THE BEST: how far the best tenth of the results lies "
                 "apart from all, as parts of 100 %%");
}

static int print_importances(struct cli *cli, const struct node *answer)
{
    const struct node *list = node_find(answer, "importances");
    struct text out = {0};
    if (list == NULL || list->first == NULL)
        return cli_fail(cli, CLI_ABSENT,
                        "%lld trials have a result, importances need %lld",
                        (long long)node_get_int(answer, "trials", 0),
                        (long long)node_get_int(answer, "least", 0));
    if (cli->format == FORMAT_CSV) {
        table_csv(make_table(cli, list), &out);
    } else if (!cli_output_item(cli->format, answer, 0, &out)) {
        table_print(make_table(cli, list),
                    cli->format == FORMAT_WIDE ? 0 : cli->width, &out);
        explain(cli, answer);
    }
    cli_output_end(cli->format, 1, &out);
    return cli_print(&out);
}

int cli_importance(struct cli *cli)
{
    struct ht_error err;
    struct cli_http_answer answer;
    if (!cli_wants(cli, 1))
        return CLI_USAGE;
    const int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    const char *metric = cli->set.metric;
    char *path = arena_printf(
        cli->arena, CLI_OURS "/%s/importances%s%s",
        cli_http_segment(cli->arena, cli->args.words.items[0]),
        metric != NULL ? "?metric=" : "",
        metric != NULL ? cli_http_segment(cli->arena, metric) : "");
    if (cli_call(cli, "GET", path, NULL, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return print_importances(cli, answer.root);
}
