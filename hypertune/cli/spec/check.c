#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/spec/smoke.h"
#include "hypertune/cli/spec/spec.h"
#include "proto/doc/json.h"

/* ---- forms ---- */

static const struct node *tree_of(struct cli *cli, cJSON *object)
{
    struct text json = {0};
    struct diag diag;
    json_print(object, &json);
    diag_init(&diag, cli->arena, "job", json.data, json.len);
    const struct node *root =
        node_read_json(cli->arena, json.data, json.len, &diag);
    text_free(&json);
    return root;
}

/* The tree of the form that -o names, and the format it is shown in. */
static int find_form(struct cli *cli, const struct job *job,
                     struct diag *losses, const struct node **tree)
{
    struct ht_error err;
    cJSON *object;
    const bool vertex = strcmp(cli->set.output, "vertex") == 0;
    const bool as_it_is = cli->format != FORMAT_TABLE;
    const char *form = !as_it_is                 ? cli->set.output
                       : job->kind == JOB_CUSTOM ? "vertex"
                                                 : "native";
    if (form_write(job, form, losses, &object, &err) != HT_OK)
        return cli_fail(cli, CLI_USAGE, "%s", err.text);
    *tree = tree_of(cli, object);
    if (cli->format == FORMAT_TABLE)
        cli->format = vertex ? FORMAT_JSON : FORMAT_YAML;
    return CLI_DONE;
}

static int show_form(struct cli *cli)
{
    struct cli_spec spec;
    struct diag losses;
    struct text said = {0}, out = {0};
    const struct node *tree = NULL;
    int code = cli_spec_read(cli, &spec);
    if (code != CLI_DONE)
        return code;
    diag_init(&losses, cli->arena, spec.file, NULL, 0);
    code = find_form(cli, spec.job, &losses, &tree);
    if (code != CLI_DONE)
        return code;
    diag_print(&losses, &said);
    if (said.data != NULL && !cli->set.quiet)
        fputs(said.data, stderr);
    text_free(&said);
    cli_output_resource(cli->format, tree, &out);
    return cli_print(&out);
}

/* -o vertex, aip, native and the formats of documents. */
static bool wants_form(const struct cli *cli)
{
    return cli->set.output != NULL &&
           (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL ||
            cli->format == FORMAT_YAML || cli_own_format(cli) != NULL);
}

int cli_check(struct cli *cli)
{
    struct cli_spec spec;
    struct text out = {0};
    if (wants_form(cli) && !cli->set.smoke)
        return show_form(cli);
    int code = cli_spec_load(cli, &spec);
    if (code != CLI_DONE)
        return code;
    cli_spec_describe(cli, &spec, &out);
    code = cli_print(&out);
    if (code != CLI_DONE || !cli->set.smoke)
        return code;
    return cli_smoke(cli, &spec);
}
