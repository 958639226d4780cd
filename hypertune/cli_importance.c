/* hypertune importance STUDY: how much each parameter matters. */
#include "hypertune/cli_commands.h"
#include "hypertune/cli_output.h"
#include "hypertune/cli_study.h"
#include "hypertune/cli_table.h"

static void percent_cell(struct table *table, const struct node *item,
                         const char *key)
{
    if (node_find(item, key) == NULL)
        table_cell(table, "-");
    else
        table_cell_printf(table, "%.0f %%",
                          100 * node_get_double(item, key, 0));
}

static struct table *make_table(struct cli *cli, const struct node *list)
{
    struct table *table = table_new(cli->arena);
    table_column(table, "PARAMETER", ALIGN_LEFT);
    table_column(table, "IMPORTANCE", ALIGN_RIGHT);
    table_column(table, "ALONE", ALIGN_RIGHT);
    table_column(table, "WITH OTHERS", ALIGN_RIGHT);
    for (const struct node *item = list ? list->first : NULL; item != NULL;
         item = item->next) {
        table_row(table);
        table_cell(table, node_get_string(item, "parameter", ""));
        percent_cell(table, item, "share");
        percent_cell(table, item, "alone");
        percent_cell(table, item, "total");
    }
    return table;
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
        cli_say(cli,
                "of %s in %lld trials; IMPORTANCE: where the best tenth lies, "
                "the others: shares of the model's variance",
                node_get_string(answer, "metric", ""),
                (long long)node_get_int(answer, "trials", 0));
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
