#include "hypertune/cli/study/trial_table.h"

#include <ctype.h>
#include <string.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/parameters.h"
#include "proto/base/clock.h"

static const struct node *list_of(const struct cli_study *study,
                                  const char *key)
{
    const struct node *list =
        node_find(node_find(study->job, "studySpec"), key);
    return list == NULL ? NULL : list->first;
}

static void add_titles(struct cli *cli, const struct cli_study *study,
                       struct table *table)
{
    for (const struct node *metric = list_of(study, "metrics"); metric != NULL;
         metric = metric->next) {
        char *title =
            arena_strdup(cli->arena, node_get_string(metric, "metricId", ""));
        for (char *s = title; *s != '\0'; s++)
            *s = (char)toupper((unsigned char)*s);
        table_column(table, title, ALIGN_RIGHT);
    }
}

static struct table *new_table(struct cli *cli, const struct cli_study *study)
{
    struct table *table = table_new(cli->arena);
    table_column(table, "ID", ALIGN_LEFT);
    table_column(table, "STATE", ALIGN_LEFT);
    add_titles(cli, study, table);
    table_column(table, "STEP", ALIGN_RIGHT);
    struct cli_parameters parameters;
    cli_parameters_read(study->job, &parameters);
    for (size_t i = 0; i < parameters.n; i++)
        table_column(table, parameters.items[i].name,
                     parameters.items[i].labels ? ALIGN_LEFT : ALIGN_RIGHT);
    table_column(table, "RUNNER", ALIGN_LEFT);
    table_column(table, "TIME", ALIGN_LEFT);
    table_spare(table, "RUNNER TIME STEP");
    if (cli->format == FORMAT_WIDE || cli->format == FORMAT_CSV) {
        table_column(table, "ATTEMPT", ALIGN_RIGHT);
        table_column(table, "REASON", ALIGN_LEFT);
    }
    return table;
}

/* A person reads 4 digits, and "-" for nothing; a spreadsheet gets all of them,
 * and an empty cell. */
static void number_cell(struct cli *cli, struct table *table,
                        const struct node *value)
{
    if (value == NULL && cli->format != FORMAT_CSV) {
        table_cell(table, "-");
        return;
    }
    double number = 0;
    bool exact = cli->format == FORMAT_CSV || value == NULL ||
                 value->kind != NODE_NUMBER || !node_double(value, &number);
    int64_t whole;
    if (exact || node_int64(value, &whole))
        table_cell(table, cli_scalar(value));
    else
        table_cell_printf(table, "%.4g", number);
}

static void add_metrics(struct cli *cli, const struct cli_study *study,
                        struct table *table, const struct node *trial)
{
    for (const struct node *metric = list_of(study, "metrics"); metric != NULL;
         metric = metric->next)
        number_cell(
            cli, table,
            cli_trial_metric(trial, node_get_string(metric, "metricId", "")));
}

static void add_trial(struct cli *cli, const struct cli_study *study,
                      struct table *table, const struct node *trial)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *ours = node_find(trial, "hypertune");
    const struct node *params = node_find(ours, "params");
    table_row(table);
    table_cell(table, cli_trial_id(trial));
    table_cell(table, cli_trial_state(trial));
    add_metrics(cli, study, table, trial);
    table_cell(table, cli_scalar(node_find(ours, "step")));
    struct cli_parameters parameters;
    cli_parameters_read(study->job, &parameters);
    for (size_t i = 0; i < parameters.n; i++)
        number_cell(cli, table, node_find(params, parameters.items[i].name));
    table_cell(table, node_get_string(ours, "runner", ""));
    int64_t elapsed = cli_trial_elapsed(trial, clock_wall_ms());
    table_cell(table, elapsed > 0 ? clock_duration(span, elapsed) : "-");
    table_cell(table, cli_scalar(node_find(ours, "attempt")));
    table_cell(table, node_get_string(ours, "reason", ""));
}

bool cli_trial_table_fields(struct cli *cli, const struct cli_study *study,
                            const struct node *trial, struct text *out)
{
    if (cli->format == FORMAT_CSV) {
        struct table *table = new_table(cli, study);
        add_trial(cli, study, table, trial);
        table_csv(table, out);
    } else if (cli->format == FORMAT_ARGS) {
        cli_trial_args(trial, out);
        text_puts(out, "\n");
    } else if (cli->format == FORMAT_NAME) {
        text_escape(out, study->name);
        text_printf(out, "/%s\n", cli_trial_id(trial));
    } else {
        return cli_output_resource(cli->format, trial, out);
    }
    return true;
}

static bool is_tabular(enum cli_format format)
{
    return format == FORMAT_TABLE || format == FORMAT_WIDE ||
           format == FORMAT_CSV;
}

int cli_trial_table_print(struct cli *cli, const struct cli_study *study,
                          size_t n, const struct node *const trials[])
{
    struct text out = {0};
    struct table *table =
        is_tabular(cli->format) ? new_table(cli, study) : NULL;
    for (size_t i = 0; i < n; i++) {
        if (table != NULL)
            add_trial(cli, study, table, trials[i]);
        else if (!cli_output_item(cli->format, trials[i], i, &out))
            cli_trial_table_fields(cli, study, trials[i], &out);
    }
    if (table == NULL)
        cli_output_end(cli->format, n, &out);
    else if (cli->format == FORMAT_CSV)
        table_csv(table, &out);
    else
        table_print(table, cli->format == FORMAT_WIDE ? 0 : cli->width, &out);
    return cli_print(&out);
}
