/* compare.c - `compare`: what differs between trials: parameters, results, and
 * what their newest attempts ran on; or between studies: results and specs. */

#include <math.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"

enum { HASH_DIGITS = 12 }; /* shown to people */

/* One thing that trials have; NULL in `values`: that trial has it not. */
struct aspect {
    const char *kind, *name; /* "parameter", "lr" */
    const char **values;     /* of each trial */
};

struct comparison {
    struct arena *arena;
    bool studies; /* not trials */
    size_t n;
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
    int code = CLI_DONE;
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

/* ---- studies ---- */

static const char *whole(struct comparison *comparison, long long n)
{
    return arena_printf(comparison->arena, "%lld", n);
}

/* How many trials had ended when the first was as good as the target; looked
 * for by ids. */
struct reaching {
    const struct cli_study *study;
    double target;
    long long n; /* results so far */
    bool reached;
};

static bool look_at(const struct node *trial, void *context)
{
    struct reaching *reaching = context;
    const double value = cli_trial_score(trial);
    if (strcmp(cli_trial_state(trial), "SUCCEEDED") != 0 || isnan(value))
        return true;
    reaching->n++;
    reaching->reached = reaching->study->maximize ? value >= reaching->target
                                                  : value <= reaching->target;
    return !reaching->reached;
}

static enum ht_status put_reaching(struct cli *cli,
                                   struct comparison *comparison, size_t i,
                                   const struct cli_study *study, double target,
                                   struct ht_error *err)
{
    struct reaching reaching = {.study = study, .target = target};
    const struct cli_pages pages = cli_trial_pages(cli, study->id, NULL);
    const enum ht_status status =
        cli_pages_each(cli, &pages, look_at, &reaching, err);
    if (status == HT_OK && reaching.reached)
        put(comparison, i, "result",
            arena_printf(comparison->arena, "results to reach %.6g", target),
            whole(comparison, reaching.n));
    return status;
}

static void put_study(const struct cli *cli, struct comparison *comparison,
                      size_t i, const struct cli_study *study)
{
    char span[CLOCK_DURATION_BYTES];
    struct text algorithm = {0};
    const int64_t took = cli_study_elapsed_ms(study, clock_wall_ms());
    put(comparison, i, "study", "state", study->state);
    cli_study_algorithm(study, &algorithm);
    put(comparison, i, "study", "algorithm",
        text_take(&algorithm, comparison->arena));
    if (took > 0) /* programs get seconds */
        put(comparison, i, "study", "took",
            cli_is_table(cli)
                ? arena_strdup(comparison->arena, clock_duration(span, took))
                : arena_printf(comparison->arena, "%.15g",
                               (double)took / 1000));
    put(comparison, i, "trials", "ended",
        whole(comparison, cli_study_ended(study)));
    put(comparison, i, "trials", "stopped early",
        whole(comparison, cli_study_count(study, "stopped")));
    put(comparison, i, "trials", "failed",
        whole(comparison, cli_study_count(study, "failed")));
    if (study->best == NULL)
        return;
    put(comparison, i, "result", "best trial", cli_trial_id(study->best));
    NODE_EACH (metric, study->metrics) {
        const char *name = node_get_string(metric, "metricId", "");
        put(comparison, i, "metric", name,
            scalar(cli_trial_metric(study->best, name)));
    }
}

/* The lines "path: old -> new" of two specs. */
static void put_specs(struct comparison *comparison,
                      const struct cli_study studies[2])
{
    struct diag diag;
    struct text lines = {0};
    diag_init(&diag, comparison->arena, "study", NULL, 0);
    const struct job *first =
        vertex_read(studies[0].job, studies[0].home->kind, &diag);
    const struct job *second =
        vertex_read(studies[1].job, studies[1].home->kind, &diag);
    if (first == NULL || second == NULL ||
        studies[0].home->kind != studies[1].home->kind)
        return;
    form_diff(first, second, &lines);
    char *rest = text_take(&lines, comparison->arena), *line;
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *old = strstr(line, ": ");
        char *new = old != NULL ? strstr(old, " -> ") : NULL;
        if (new == NULL)
            continue;
        *old = *new = '\0';
        put(comparison, 0, "spec", line, old + strlen(": "));
        put(comparison, 1, "spec", line, new + strlen(" -> "));
    }
}

static int collect_studies(struct cli *cli, struct comparison *comparison)
{
    struct ht_error err;
    enum ht_status status = HT_OK;
    const size_t n = comparison->n;
    struct cli_study *studies =
        arena_alloc(comparison->arena, n, sizeof *studies);
    for (size_t i = 0; i < n; i++) {
        comparison->names[i] = cli->args.words.items[i];
        const int code =
            cli_study_open_trials(cli, comparison->names[i], &studies[i]);
        if (code != CLI_DONE)
            return code;
        put_study(cli, comparison, i, &studies[i]);
    }
    for (size_t of = 0; of < n; of++)
        for (size_t i = 0; i < n && status == HT_OK; i++)
            if (studies[of].best != NULL &&
                strcmp(studies[i].metric, studies[of].metric) == 0)
                status = put_reaching(cli, comparison, i, &studies[i],
                                      cli_trial_score(studies[of].best), &err);
    if (n == 2)
        put_specs(comparison, studies);
    return status == HT_OK ? CLI_DONE : cli_fail_error(cli, &err);
}

/* Does no word name a trial? A custom job is its only one. */
static bool are_studies(struct cli *cli)
{
    const char *study, *trial;
    struct cli_study first;
    for (size_t i = 0; i < cli->args.words.n; i++)
        if (cli_study_split(cli, cli->args.words.items[i], &study, &trial))
            return false;
    return cli_study_get(cli, cli->args.words.items[0], &first, NULL) !=
               HT_OK ||
           first.home->kind != JOB_CUSTOM;
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
    cJSON *names =
        json_add_array(root, comparison->studies ? "studies" : "trials");
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
    int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    comparison.studies = are_studies(cli);
    code = comparison.studies ? collect_studies(cli, &comparison)
                              : collect(cli, &comparison);
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
