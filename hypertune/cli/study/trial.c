#include "hypertune/cli/study/trial.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/outside.h"
#include "proto/base/clock.h"

enum {
    FLAG_DIGITS = 6,
    PARAM_DIGITS = 4,
    WHOLE_BYTES = 4,
    BRIEF_BYTES = 16,
    LAST_BYTES = 500
};

static void add_value(const struct node *value, int digits, struct text *out)
{
    double real;
    int64_t whole;
    if (value->kind == NODE_NUMBER && !node_int64(value, &whole) &&
        node_double(value, &real))
        text_printf(out, "%.*g", digits, real);
    else
        text_escape(out, value->text != NULL ? value->text : "");
}

enum ht_status cli_trial_get(struct cli *cli, const char *study,
                             const char *trial, const struct node **found,
                             struct ht_error *err)
{
    const char *path = cli_study_path(cli, study, "/trials/%s",
                                      cli_http_segment(cli->arena, trial));
    return cli_get(cli, path, found, err);
}

struct cli_pages cli_trial_pages(struct cli *cli, const char *study,
                                 const char *state)
{
    const char *path = cli_study_path(cli, study, "/trials");
    return (struct cli_pages){.path = cli_study_filter(cli, path, state),
                              .key = "trials"};
}

const char *cli_trial_log_tail(struct cli *cli, const char *study,
                               const char *trial, const char *stream, int bytes)
{
    const struct node *answer;
    const char *path = cli_study_path(
        cli, study, "/trials/%s/logs?stream=%s&replica=master-0&tail=%d", trial,
        stream, bytes);
    if (cli_get(cli, path, &answer, NULL) != HT_OK)
        return "";
    const char *data = node_get_string(answer, "data", "");
    size_t len = strlen(data);
    while (len > 0 && data[len - 1] == '\n')
        len--;
    return arena_strndup(cli->arena, data, len);
}

const struct node *cli_trial_newest(const struct node *trial)
{
    const struct node *newest =
        node_first(node_find(trial, "hypertune"), "attempts");
    while (newest != NULL && newest->next != NULL)
        newest = newest->next;
    return newest;
}

static bool is_in(const struct node *node, const char *state)
{
    return strcmp(node_get_string(node, "state", ""), state) == 0;
}

const char *cli_trial_waits(struct cli *cli, const struct cli_study *study,
                            const struct node *trial)
{
    const struct node *newest = cli_trial_newest(trial);
    if (is_in(node_find(trial, "hypertune"), "PAUSED"))
        return "is paused at a rung of its early stopping rule";
    if (is_in(node_find(trial, "hypertune"), "REQUESTED"))
        return study->reason[0] == '\0'
                   ? "waits for a slot"
                   : arena_printf(cli->arena, "waits: %s", study->reason);
    if (!is_in(newest, "STARTING"))
        return NULL;
    const char *last =
        cli_last_lines(cli_trial_log_tail(cli, study->name, cli_trial_id(trial),
                                          "runner", LAST_BYTES),
                       1);
    return last[0] == '\0'
               ? "is being started"
               : arena_printf(cli->arena, "is being started: %s", last);
}

const char *cli_trial_id(const struct node *trial)
{
    return node_get_string(trial, "id", "");
}

const char *cli_trial_state(const struct node *trial)
{
    return node_get_string(node_find(trial, "hypertune"), "state", "");
}

/* The first of a member of ours: "params", "args". */
static const struct node *first_of(const struct node *trial, const char *key)
{
    return node_first(node_find(trial, "hypertune"), key);
}

void cli_trial_args(const struct node *trial, struct text *out)
{
    const struct node *first = first_of(trial, "args");
    NODE_EACH (arg, first) {
        text_puts(out, arg == first ? "" : " ");
        text_shell_word(out, cli_scalar(arg));
    }
}

void cli_trial_flags(const struct node *trial, struct text *out)
{
    const struct node *first = first_of(trial, "params");
    NODE_EACH (param, first) {
        struct text flag = {0};
        text_print_safe(&flag, "--%s=", param->key);
        add_value(param, FLAG_DIGITS, &flag);
        text_puts(out, param == first ? "" : " ");
        text_shell_word(out, flag.data);
        text_free(&flag);
    }
}

double cli_trial_score(const struct node *trial)
{
    return node_get_double(node_find(trial, "hypertune"), "objective", NAN);
}

void cli_trial_objective(const struct node *trial, struct text *out)
{
    const double value = cli_trial_score(trial);
    if (isnan(value))
        text_puts(out, "-");
    else
        text_printf(out, "%.6g", value);
}

const struct node *cli_trial_metric(const struct node *trial,
                                    const char *metric)
{
    const struct node *item =
        node_first(node_find(trial, "finalMeasurement"), "metrics");
    while (item != NULL &&
           strcmp(node_get_string(item, "metricId", ""), metric) != 0)
        item = item->next;
    return node_find(item, "value");
}

double cli_trial_value(const struct node *trial, const char *metric)
{
    double value = NAN;
    const struct node *node = cli_trial_metric(trial, metric);
    return node != NULL && node_double(node, &value) ? value : NAN;
}

void cli_trial_results(const struct cli_study *study, const struct node *trial,
                       struct text *out)
{
    text_print_safe(out, "%s=", study->metric);
    cli_trial_objective(trial, out);
    const struct node *first = study->metrics;
    NODE_EACH (metric, first == NULL ? NULL : first->next) {
        const char *name = node_get_string(metric, "metricId", "");
        const double value = cli_trial_value(trial, name);
        text_print_safe(out, " %s", name);
        if (isnan(value))
            text_puts(out, "=-");
        else
            text_printf(out, "=%.6g", value);
    }
}

void cli_trial_best(const struct cli_study *study, struct text *out)
{
    const struct node *best = study->best;
    if (best == NULL)
        return;
    text_printf(out, "%s=", study->metric);
    cli_trial_objective(best, out);
    if (study->front != NULL)
        text_printf(out, " of %zu", study->front->count);
    if (cli_outside_is(best))
        text_puts(out, ", outside");
}

int64_t cli_trial_elapsed(const struct node *trial, int64_t now_ms)
{
    const struct node *ours = node_find(trial, "hypertune");
    int64_t start = node_get_int(ours, "startTimeMs", 0);
    int64_t end = node_get_int(ours, "endTimeMs", 0);
    if (start == 0)
        return 0;
    if (end == 0)
        end = now_ms;
    return end > start ? end - start : 0;
}

/* ---- parameters in few columns ---- */

static bool starts_word(const char *name, size_t i)
{
    return i == 0 || strchr("_-./", name[i - 1]) != NULL ||
           (isupper((unsigned char)name[i]) &&
            islower((unsigned char)name[i - 1]));
}

static void shorten(const char *name, char brief[BRIEF_BYTES])
{
    size_t n = 0, len = strlen(name);
    for (size_t i = 0; i < len && n + 1 < BRIEF_BYTES; i++) {
        if (starts_word(name, i) && isalnum((unsigned char)name[i]))
            brief[n++] = (char)tolower((unsigned char)name[i]);
    }
    if (len <= WHOLE_BYTES || n < 2) {
        n = len <= WHOLE_BYTES ? len : 2;
        memcpy(brief, name, n);
    }
    brief[n] = '\0';
}

static bool are_unique(const struct node *params)
{
    char one[BRIEF_BYTES], other[BRIEF_BYTES];
    NODE_EACH (a, node_items(params)) {
        shorten(a->key, one);
        NODE_EACH (b, a->next) {
            shorten(b->key, other);
            if (strcmp(one, other) == 0)
                return false;
        }
    }
    return true;
}

static void add_params(const struct node *params, bool brief, struct text *out)
{
    NODE_EACH (one, node_items(params)) {
        char name[BRIEF_BYTES];
        shorten(one->key, name);
        text_print_safe(out, "%s%s=", one == params->first ? "" : " ",
                        brief ? name : one->key);
        add_value(one, PARAM_DIGITS, out);
    }
}

void cli_trial_params(const struct node *trial, struct text *out)
{
    add_params(node_find(node_find(trial, "hypertune"), "params"), false, out);
}

void cli_trial_brief(const struct node *params, struct text *out)
{
    add_params(params, are_unique(params), out);
}

/* ---- the parameters of a study ---- */

/* The entry of a name, new at the end if needed; NULL when there is no room. */
static struct cli_parameter *find_or_add(struct cli_parameters *parameters,
                                         const char *name)
{
    for (size_t i = 0; i < parameters->n; i++)
        if (strcmp(parameters->items[i].name, name) == 0)
            return &parameters->items[i];
    if (parameters->n == HT_MAX_PARAMETERS)
        return NULL;
    struct cli_parameter *added = &parameters->items[parameters->n++];
    *added = (struct cli_parameter){.name = name};
    return added;
}

static void read_nested(const struct node *spec,
                        struct cli_parameters *parameters)
{
    struct cli_parameter *one =
        find_or_add(parameters, node_get_string(spec, "parameterId", ""));
    if (one != NULL && node_find(spec, "categoricalValueSpec") != NULL)
        one->labels = true;
    NODE_EACH (child, node_first(spec, "conditionalParameterSpecs"))
        read_nested(node_find(child, "parameterSpec"), parameters);
}

void cli_parameters_read(const struct node *job,
                         struct cli_parameters *parameters)
{
    parameters->n = 0;
    NODE_EACH (name, node_first(node_find(job, "hypertune"), "parameterOrder"))
        if (node_string(name) != NULL)
            find_or_add(parameters, node_string(name));
    NODE_EACH (spec, node_first(node_find(job, "studySpec"), "parameters"))
        read_nested(spec, parameters);
}

/* ---- as -o wants it ---- */

/* Is any of them outside the space? Only then there is a column for it. */
static bool any_outside(size_t n, const struct node *const trials[])
{
    size_t i = 0;
    while (i < n && !cli_outside_is(trials[i]))
        i++;
    return i < n;
}

static bool is_goal(const struct cli_study *study, const char *name)
{
    const struct node *metric = study->metrics;
    while (metric != NULL &&
           strcmp(node_get_string(metric, "metricId", ""), name) != 0)
        metric = metric->next;
    return metric != NULL;
}

const char **cli_trial_others(struct cli *cli, const struct cli_study *study,
                              const struct node *trial, const char **names,
                              size_t *n)
{
    NODE_EACH (metric,
               node_first(node_find(trial, "finalMeasurement"), "metrics")) {
        const char *name = node_get_string(metric, "metricId", "");
        size_t i = 0;
        while (i < *n && strcmp(names[i], name) != 0)
            i++;
        if (i < *n || is_goal(study, name))
            continue;
        names = arena_grow(cli->arena, names, *n, sizeof *names);
        names[(*n)++] = name;
    }
    return names;
}

static int by_name(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

/* The columns that not every table has. */
struct columns {
    bool outside;
    size_t n_others;
    const char **others; /* metrics that are no goal, by name */
};

static struct columns columns_of(struct cli *cli, const struct cli_study *study,
                                 size_t n, const struct node *const trials[])
{
    struct columns columns = {.outside = any_outside(n, trials)};
    for (size_t i = 0; i < n; i++)
        columns.others = cli_trial_others(cli, study, trials[i], columns.others,
                                          &columns.n_others);
    if (columns.n_others > 0)
        qsort(columns.others, columns.n_others, sizeof *columns.others,
              by_name);
    return columns;
}

static void metric_column(struct cli *cli, struct table *table,
                          const char *name)
{
    table_column(table, cli_upper(cli->arena, name), ALIGN_RIGHT);
}

static struct table *new_table(struct cli *cli, const struct cli_study *study,
                               const struct columns *columns)
{
    struct table *table = table_new(cli->arena);
    struct cli_parameters parameters;
    const char *spare = "RUNNER TIME STEP";
    cli_parameters_read(study->job, &parameters);
    table_columns(table, "ID,STATE");
    NODE_EACH (metric, study->metrics)
        metric_column(cli, table, node_get_string(metric, "metricId", ""));
    for (size_t i = 0; i < columns->n_others; i++)
        metric_column(cli, table, columns->others[i]);
    for (size_t i = columns->n_others; i-- > 0;)
        spare = arena_printf(cli->arena, "%s %s", spare,
                             cli_upper(cli->arena, columns->others[i]));
    table_columns(table, ">STEP");
    for (size_t i = 0; i < parameters.n; i++)
        table_column(table, parameters.items[i].name,
                     parameters.items[i].labels ? ALIGN_LEFT : ALIGN_RIGHT);
    if (columns->outside)
        table_columns(table, "OUTSIDE");
    table_columns(table, "RUNNER,TIME");
    table_spare(table, spare);
    if (cli->format == FORMAT_WIDE || cli->format == FORMAT_CSV)
        table_columns(table, ">ATTEMPT,REASON");
    return table;
}

/* How long it ran; in seconds for a program. */
static void time_cell(struct cli *cli, struct table *table, int64_t elapsed_ms)
{
    char span[CLOCK_DURATION_BYTES];
    if (elapsed_ms <= 0)
        table_cell(table, cli_output_nothing(cli));
    else if (cli->format == FORMAT_CSV)
        table_cell_printf(table, "%.15g", (double)elapsed_ms / 1000);
    else
        table_cell(table, clock_duration(span, elapsed_ms));
}

/* A person reads 4 digits, and "-" for nothing; a spreadsheet gets all of them,
 * and an empty cell. */
static void number_cell(struct cli *cli, struct table *table,
                        const struct node *value)
{
    struct text cell = {0};
    if (value != NULL && cli->format != FORMAT_CSV)
        add_value(value, PARAM_DIGITS, &cell);
    else
        text_puts(&cell,
                  value == NULL ? cli_output_nothing(cli) : cli_scalar(value));
    table_cell_text(table, &cell, "");
}

static void add_trial(struct cli *cli, const struct cli_study *study,
                      struct table *table, const struct columns *columns,
                      const struct node *trial)
{
    struct text where = {0};
    const struct node *ours = node_find(trial, "hypertune");
    const struct node *params = node_find(ours, "params");
    table_row(table);
    table_cells(table, cli_trial_id(trial), cli_trial_state(trial), NULL);
    NODE_EACH (metric, study->metrics)
        number_cell(
            cli, table,
            cli_trial_metric(trial, node_get_string(metric, "metricId", "")));
    for (size_t i = 0; i < columns->n_others; i++)
        number_cell(cli, table, cli_trial_metric(trial, columns->others[i]));
    table_cell(table, cli_scalar(node_find(ours, "step")));
    struct cli_parameters parameters;
    cli_parameters_read(study->job, &parameters);
    for (size_t i = 0; i < parameters.n; i++)
        number_cell(cli, table, node_find(params, parameters.items[i].name));
    cli_outside_add(study, trial, &where);
    if (columns->outside)
        table_cell_text(table, &where, "");
    table_cell(table, node_get_string(ours, "runner", ""));
    time_cell(cli, table, cli_trial_elapsed(trial, clock_wall_ms()));
    table_cell(table, cli_scalar(node_find(ours, "attempt")));
    table_cell(table, node_get_string(ours, "reason", ""));
}

bool cli_trial_table_fields(struct cli *cli, const struct cli_study *study,
                            const struct node *trial, struct text *out)
{
    if (cli->format == FORMAT_CSV) {
        const struct columns columns = columns_of(cli, study, 1, &trial);
        struct table *table = new_table(cli, study, &columns);
        add_trial(cli, study, table, &columns, trial);
        table_csv(table, out);
    } else if (cli->format == FORMAT_ARGS) {
        cli_trial_args(trial, out);
        text_puts(out, "\n");
    } else if (cli->format == FORMAT_NAME) {
        text_print_safe(out, "%s/%s\n", study->name, cli_trial_id(trial));
    } else {
        return cli_output_resource(cli->format, trial, out);
    }
    return true;
}

int cli_trial_table_print(struct cli *cli, const struct cli_study *study,
                          size_t n, const struct node *const trials[])
{
    struct text out = {0};
    const bool tabular = cli_is_table(cli) || cli->format == FORMAT_CSV;
    const struct columns columns = columns_of(cli, study, n, trials);
    struct table *table = new_table(cli, study, &columns);
    for (size_t i = 0; i < n; i++) {
        if (tabular)
            add_trial(cli, study, table, &columns, trials[i]);
        else if (!cli_output_item(cli->format, trials[i], i, &out))
            cli_trial_table_fields(cli, study, trials[i], &out);
    }
    cli_output_end(cli->format, n, &out);
    cli_output_table(cli, table, &out);
    return cli_print(&out);
}
