/* hypertune replay STUDY: proves its suggestions, or looks ahead. */
#include <ctype.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"

enum { ANSWER_MS = 300000 }; /* a model of thousands of trials takes its time */

/* "lr=0.1 layers=3", as a canonical point has it. */
static void add_point(const struct node *params, struct text *out)
{
    const char *blank = "";
    for (const struct node *item = params ? params->first : NULL; item != NULL;
         item = item->next) {
        text_put_escaped(out, blank, item->key, "=");
        text_escape(out, cli_scalar(item));
        blank = " ";
    }
}

static const char *lower_word(struct arena *arena, const char *word)
{
    char *lower = arena_strdup(arena, word);
    for (char *s = lower; *s != '\0'; s++)
        *s = (char)tolower((unsigned char)*s);
    return lower;
}

static void point_cell(struct table *table, const struct node *params)
{
    struct text point = {0};
    add_point(params, &point);
    table_cell(table, text_string(&point));
    text_free(&point);
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
    const struct node *again = node_find(item, "again");
    const long long index = proof->same + proof->differs + proof->unknown;
    proof->same += strcmp(verdict, "SAME") == 0;
    proof->differs += strcmp(verdict, "DIFFERS") == 0;
    proof->unknown += strcmp(verdict, "UNKNOWN") == 0;
    if (cli_output_item(proof->cli->format, item, (size_t)index, &proof->out))
        return true;
    table_row(proof->table);
    table_cell(proof->table, node_get_string(item, "trial", ""));
    table_cell(proof->table, lower_word(proof->cli->arena, verdict));
    point_cell(proof->table, node_find(item, "params"));
    if (again != NULL)
        point_cell(proof->table, again);
    else
        table_cell(proof->table, node_get_string(item, "reason", ""));
    return true;
}

static int print_proof(struct proof *proof)
{
    struct cli *cli = proof->cli;
    const long long all = proof->same + proof->differs + proof->unknown;
    const bool people =
        cli->format == FORMAT_TABLE || cli->format == FORMAT_WIDE;
    if (cli->format == FORMAT_CSV)
        table_csv(proof->table, &proof->out);
    else if (people)
        table_print(proof->table, cli->format == FORMAT_WIDE ? 0 : cli->width,
                    &proof->out);
    cli_output_end(cli->format, (size_t)all, &proof->out);
    if (people) {
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
    const char *from = cli->set.from;
    const struct cli_pages pages = {
        .path = arena_printf(
            cli->arena, CLI_OURS "/%s/replay%s%s",
            cli_http_segment(cli->arena, study), from != NULL ? "?from=" : "",
            from != NULL ? cli_http_segment(cli->arena, from) : ""),
        .key = "trials",
        .keep = true};
    table_column(proof.table, "TRIAL", ALIGN_LEFT);
    table_column(proof.table, "VERDICT", ALIGN_LEFT);
    table_column(proof.table, "POINT", ALIGN_LEFT);
    table_column(proof.table, "AGAIN", ALIGN_LEFT);
    if (cli_pages_each(cli, &pages, add_trial, &proof, &err) == HT_OK)
        return print_proof(&proof);
    text_free(&proof.out);
    return cli_fail_error(cli, &err);
}

/* ---- looking ahead ---- */

static const char *preview_path(struct cli *cli, const char *study)
{
    struct arena *arena = cli->arena;
    const char *path =
        arena_printf(arena, CLI_OURS "/%s/preview?algorithm=%s",
                     cli_http_segment(arena, study),
                     cli_http_segment(arena, cli->set.algorithm));
    if (cli->set.from != NULL)
        path = arena_printf(arena, "%s&from=%s", path,
                            cli_http_segment(arena, cli->set.from));
    if (cli->set.count != CLI_UNSET)
        path = arena_printf(arena, "%s&count=%lld", path,
                            (long long)cli->set.count);
    return path;
}

static int print_preview(struct cli *cli, const struct node *answer)
{
    struct text out = {0};
    struct table *table = table_new(cli->arena);
    table_column(table, "KIND", ALIGN_LEFT);
    table_column(table, "POINT", ALIGN_LEFT);
    for (const struct node *item = node_first(answer, "suggestions");
         item != NULL; item = item->next) {
        table_row(table);
        table_cell(table, lower_word(cli->arena,
                                     node_get_string(node_find(item, "why"),
                                                     "kind", "")));
        point_cell(table, node_find(item, "params"));
    }
    if (cli->format == FORMAT_CSV)
        table_csv(table, &out);
    else if (!cli_output_resource(cli->format, answer, &out))
        table_print(table, cli->format == FORMAT_WIDE ? 0 : cli->width, &out);
    return cli_print(&out);
}

static int look_ahead(struct cli *cli, const char *study)
{
    struct ht_error err;
    struct cli_http_answer answer;
    if (cli_call(cli, "GET", preview_path(cli, study), NULL, &answer, &err) !=
        HT_OK)
        return cli_fail_error(cli, &err);
    return print_preview(cli, answer.root);
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
