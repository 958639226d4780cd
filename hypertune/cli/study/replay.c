/* replay.c - `replay`: proves the suggestions of a study, or looks ahead. */

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"

enum { ANSWER_MS = 300000 }; /* a model of thousands of trials takes its time */

/* "lr=0.1 layers=3", as a canonical point has it. */
static void point_cell(struct table *table, const struct node *item,
                       const char *key)
{
    struct text point = {0};
    NODE_EACH (one, node_first(item, key))
        text_print_safe(&point, "%s%s=%s", point.len > 0 ? " " : "", one->key,
                        cli_scalar(one));
    table_cell_text(table, &point, "");
}

/* ---- proving ---- */

struct proof {
    struct cli *cli;
    struct table *table;
    struct text out; /* formats without a table */
    long long same, differs, unknown;
};

static bool add_trial(const struct node *item, void *context)
{
    struct proof *proof = context;
    const char *verdict = node_get_string(item, "verdict", "");
    const long long index = proof->same + proof->differs + proof->unknown;
    proof->same += strcmp(verdict, "SAME") == 0;
    proof->differs += strcmp(verdict, "DIFFERS") == 0;
    proof->unknown += strcmp(verdict, "UNKNOWN") == 0;
    if (cli_output_item(proof->cli->format, item, (size_t)index, &proof->out))
        return true;
    table_row(proof->table);
    table_cells(proof->table, node_get_string(item, "trial", ""),
                cli_lower(proof->cli->arena, verdict), NULL);
    point_cell(proof->table, item, "params");
    if (node_find(item, "again") != NULL)
        point_cell(proof->table, item, "again");
    else
        table_cell(proof->table, node_get_string(item, "reason", ""));
    return true;
}

static int print_proof(struct proof *proof)
{
    struct cli *cli = proof->cli;
    const long long all = proof->same + proof->differs + proof->unknown;
    cli_output_table(cli, proof->table, &proof->out);
    cli_output_end(cli->format, (size_t)all, &proof->out);
    if (cli_is_table(cli)) {
        text_printf(&proof->out, "%lld of %lld suggestions are the same",
                    proof->same, all);
        if (proof->differs > 0)
            text_printf(&proof->out, ", %lld differ", proof->differs);
        if (proof->unknown > 0)
            text_printf(&proof->out, ", %lld cannot be told", proof->unknown);
        text_puts(&proof->out, "\n");
    }
    const int printed = cli_print(&proof->out);
    if (printed != CLI_DONE)
        return printed;
    if (proof->differs > 0)
        cli_say(cli, "another version of hypertune, or a processor with other "
                     "vector units, may have chosen them");
    return proof->differs > 0 ? CLI_REFUSED : CLI_DONE;
}

static int prove(struct cli *cli, const char *study)
{
    struct ht_error err;
    struct proof proof = {.cli = cli, .table = table_new(cli->arena)};
    const struct cli_pages pages = {
        .path = cli_query(cli, cli_study_path(cli, study, "/replay"), "from",
                          cli->set.from),
        .key = "trials",
        .keep = true};
    table_columns(proof.table, "TRIAL,VERDICT,POINT,AGAIN");
    if (cli_pages_each(cli, &pages, add_trial, &proof, &err) == HT_OK)
        return print_proof(&proof);
    text_free(&proof.out);
    return cli_fail_error(cli, &err);
}

/* ---- looking ahead ---- */

static int look_ahead(struct cli *cli, const char *study)
{
    struct ht_error err;
    struct text out = {0};
    const struct node *answer;
    struct table *table = table_new(cli->arena);
    const char *path = cli_study_path(cli, study, "/preview");
    path = cli_query(cli, path, "algorithm", cli->set.algorithm);
    path = cli_query(cli, path, "from", cli->set.from);
    if (cli->set.count != CLI_UNSET)
        path = arena_printf(cli->arena, "%s&count=%lld", path,
                            (long long)cli->set.count);
    if (cli_get(cli, path, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    table_columns(table, "KIND,POINT");
    NODE_EACH (item, node_first(answer, "suggestions")) {
        const char *kind = node_get_string(node_find(item, "why"), "kind", "");
        table_row(table);
        table_cell(table, cli_lower(cli->arena, kind));
        point_cell(table, item, "params");
    }
    if (!cli_output_resource(cli->format, answer, &out))
        cli_output_table(cli, table, &out);
    return cli_print(&out);
}

int cli_replay(struct cli *cli)
{
    struct cli_study study;
    if (cli->set.count != CLI_UNSET && cli->set.algorithm == NULL)
        return cli_fail(cli, CLI_USAGE,
                        "--count goes with --algorithm: so many points that "
                        "it would suggest");
    cli->request_ms = ANSWER_MS;
    const int code =
        cli_study_open_trials(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    return cli->set.algorithm != NULL ? look_ahead(cli, study.name)
                                      : prove(cli, study.name);
}
