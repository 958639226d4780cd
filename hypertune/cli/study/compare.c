/* compare.c - `compare`: what differs between trials: parameters, results, and
 * what their newest attempts ran on. */

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"

enum { HASH_DIGITS = 12 }; /* shown to people */

/* One thing that trials have; NULL in `values`: that trial has it not. */
struct aspect {
    const char *kind, *name; /* "parameter", "lr" */
    const char **values;     /* of each trial */
};

struct comparison {
    struct arena *arena;
    size_t n; /* trials */
    const char **names;
    size_t n_aspects;
    struct aspect *aspects;
};

/* ---- collecting ---- */

/* A value of one trial; an aspect is added with the first trial that has it. */
static void put(struct comparison *comparison, size_t trial, const char *kind,
                const char *name, const char *value)
{
    size_t i = 0;
    if (value == NULL)
        return;
    while (i < comparison->n_aspects &&
           (strcmp(comparison->aspects[i].kind, kind) != 0 ||
            strcmp(comparison->aspects[i].name, name) != 0))
        i++;
    if (i == comparison->n_aspects) {
        comparison->aspects = arena_grow(comparison->arena, comparison->aspects,
                                         i, sizeof *comparison->aspects);
        comparison->aspects[comparison->n_aspects++] =
            (struct aspect){kind, name,
                            arena_alloc(comparison->arena, comparison->n,
                                        sizeof *comparison->aspects->values)};
    }
    comparison->aspects[i].values[trial] = value;
}

static const char *scalar(const struct node *node)
{
    return node != NULL ? cli_scalar(node) : NULL;
}

static void put_git(struct comparison *comparison, size_t i,
                    const struct node *git)
{
    const struct node *changes = node_find(git, "changes");
    put(comparison, i, "code", "commit", node_get_string(git, "commit", NULL));
    put(comparison, i, "code", "branch", node_get_string(git, "branch", NULL));
    if (git != NULL && !node_get_bool(git, "dirty", false))
        put(comparison, i, "code", "changes", "none");
    else if (git != NULL)
        put(comparison, i, "code", "changes",
            node_get_string(changes, "sha256", "some"));
}

static void put_facts(struct comparison *comparison, size_t i,
                      const struct node *facts)
{
    const struct node *python = node_find(facts, "python");
    struct text gpus = {0};
    put(comparison, i, "code", "spec", node_get_string(facts, "spec", NULL));
    put_git(comparison, i, node_find(facts, "git"));
    NODE_EACH (image, node_first(facts, "images"))
        put(comparison, i, "image", image->key, cli_scalar(image));
    put(comparison, i, "machine", "host", node_get_string(facts, "host", NULL));
    if (node_first(facts, "gpus") != NULL) {
        cli_scalars(node_find(facts, "gpus"), &gpus);
        put(comparison, i, "machine", "gpus",
            text_take(&gpus, comparison->arena));
    }
    put(comparison, i, "python", "version",
        node_get_string(python, "version", NULL));
    put(comparison, i, "python", "program",
        node_get_string(python, "program", NULL));
    NODE_EACH (package, node_first(python, "packages"))
        put(comparison, i, "python", package->key, cli_scalar(package));
}

static void put_trial(struct comparison *comparison, size_t i,
                      const struct node *trial)
{
    const struct node *ours = node_find(trial, "hypertune");
    put(comparison, i, "trial", "state", cli_trial_state(trial));
    NODE_EACH (param, node_first(ours, "params"))
        put(comparison, i, "parameter", param->key, cli_scalar(param));
    NODE_EACH (metric,
               node_first(node_find(trial, "finalMeasurement"), "metrics"))
        put(comparison, i, "metric", node_get_string(metric, "metricId", ""),
            scalar(node_find(metric, "value")));
    put(comparison, i, "metric", "step", scalar(node_find(ours, "step")));
    put_facts(comparison, i, node_find(ours, "facts"));
}

static int collect(struct cli *cli, struct comparison *comparison)
{
    int code = cli_connect(cli);
    for (size_t i = 0; i < comparison->n && code == CLI_DONE; i++) {
        struct ht_error err;
        const struct node *trial;
        struct cli_study study;
        const char *id;
        comparison->names[i] = cli->args.words.items[i];
        code = cli_study_open_trial(cli, comparison->names[i], &study, &id);
        if (code == CLI_DONE &&
            cli_trial_get(cli, study.name, id, &trial, &err) != HT_OK)
            return cli_fail_error(cli, &err);
        if (code == CLI_DONE)
            put_trial(comparison, i, trial);
    }
    return code;
}

/* ---- showing ---- */

static bool differs(const struct comparison *comparison,
                    const struct aspect *aspect)
{
    const char *first = aspect->values[0];
    for (size_t i = 1; i < comparison->n; i++) {
        const char *other = aspect->values[i];
        if ((first == NULL) != (other == NULL) ||
            (first != NULL && strcmp(first, other) != 0))
            return true;
    }
    return false;
}

static bool is_any_different(const struct comparison *comparison)
{
    size_t i = 0;
    while (i < comparison->n_aspects &&
           !differs(comparison, &comparison->aspects[i]))
        i++;
    return i < comparison->n_aspects;
}

/* A person needs the first digits of a hash alone. */
static const char *shown(const struct comparison *comparison,
                         const struct aspect *aspect, const char *value)
{
    if (value == NULL)
        return "-";
    return strcmp(aspect->kind, "code") == 0 &&
                   strspn(value, "0123456789abcdef") == strlen(value)
               ? arena_printf(comparison->arena, "%.*s", HASH_DIGITS, value)
               : value;
}

static void make_table(const struct cli *cli,
                       const struct comparison *comparison, struct table *table)
{
    const bool whole = cli->format == FORMAT_CSV;
    table_columns(table, "WHAT,NAME");
    for (size_t i = 0; i < comparison->n; i++)
        table_column(table, comparison->names[i], ALIGN_LEFT);
    for (size_t k = 0; k < comparison->n_aspects; k++) {
        const struct aspect *aspect = &comparison->aspects[k];
        if (!cli->set.all && !differs(comparison, aspect))
            continue;
        table_row(table);
        table_cells(table, aspect->kind, aspect->name, NULL);
        for (size_t i = 0; i < comparison->n; i++) {
            const char *value = aspect->values[i];
            table_cell(table, !whole          ? shown(comparison, aspect, value)
                              : value != NULL ? value
                                              : "");
        }
    }
}

static const struct node *make_tree(const struct cli *cli,
                                    const struct comparison *comparison)
{
    struct diag diag;
    cJSON *root = cJSON_CreateObject();
    cJSON *names = json_add_array(root, "trials");
    cJSON *rows = json_add_array(root, "rows");
    for (size_t i = 0; i < comparison->n; i++)
        json_push_string(names, comparison->names[i]);
    for (size_t k = 0; k < comparison->n_aspects; k++) {
        const struct aspect *aspect = &comparison->aspects[k];
        const bool different = differs(comparison, aspect);
        if (!cli->set.all && !different)
            continue;
        cJSON *row = json_push_object(rows);
        json_add_string(row, "what", aspect->kind);
        json_add_string(row, "name", aspect->name);
        json_add_bool(row, "differs", different);
        cJSON *values = json_add_array(row, "values");
        for (size_t i = 0; i < comparison->n; i++)
            json_push_string(values, aspect->values[i]);
    }
    const char *text = json_text(comparison->arena, root);
    diag_init(&diag, comparison->arena, "comparison", NULL, 0);
    return node_read_json(comparison->arena, text, strlen(text), &diag);
}

int cli_compare(struct cli *cli)
{
    const size_t n = cli->args.words.n;
    struct comparison comparison = {
        .arena = cli->arena,
        .n = n,
        .names = arena_alloc(cli->arena, n, sizeof(char *))};
    struct text out = {0};
    const int code = collect(cli, &comparison);
    if (code != CLI_DONE)
        return code;
    if (cli_is_table(cli) || cli->format == FORMAT_CSV) {
        struct table *table = table_new(cli->arena);
        make_table(cli, &comparison, table);
        cli_output_table(cli, table, &out);
        if (!cli->set.all && !is_any_different(&comparison))
            cli_say(cli, "nothing differs; --all shows what is equal");
    } else {
        cli_output_resource(cli->format, make_tree(cli, &comparison), &out);
    }
    return cli_print(&out);
}
