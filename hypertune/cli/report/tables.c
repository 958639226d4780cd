#include "hypertune/cli/report/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/report/markup.h"
#include "proto/base/clock.h"

enum {
    MOST_ROWS = 2000,   /* more make a page slow to open */
    MOST_REASONS = 20,  /* shown */
    MOST_EXAMPLES = 10, /* trials named of each */
    REASON_CHARS = 300
};

/* ---- failures ---- */

struct failure {
    const char *reason;
    size_t n;
    struct text examples;
};

static int by_count(const void *a, const void *b)
{
    const struct failure *left = a, *right = b;
    return left->n != right->n ? (left->n < right->n) - (left->n > right->n)
                               : strcmp(left->reason, right->reason);
}

static bool has_failed(const struct node *trial)
{
    const char *state = cli_trial_state(trial);
    return strcmp(state, "FAILED") == 0 || strcmp(state, "INFEASIBLE") == 0;
}

static int by_reason(const void *a, const void *b)
{
    const struct node *const *left = a, *const *right = b;
    return strcmp(
        node_get_string(node_find(*left, "hypertune"), "reason", ""),
        node_get_string(node_find(*right, "hypertune"), "reason", ""));
}

/* The failures by reason, of `failed` trials, which are sorted. */
static size_t group(struct arena *arena, size_t n, const struct node *failed[],
                    struct failure **groups)
{
    size_t n_groups = 0;
    struct failure *list = arena_alloc(arena, n + 1, sizeof *list);
    qsort(failed, n, sizeof(const struct node *), by_reason);
    for (size_t i = 0; i < n; i++) {
        const char *reason =
            node_get_string(node_find(failed[i], "hypertune"), "reason", "");
        if (n_groups == 0 || strcmp(list[n_groups - 1].reason, reason) != 0)
            list[n_groups++].reason = reason;
        struct failure *last = &list[n_groups - 1];
        if (last->n++ < MOST_EXAMPLES)
            text_printf(&last->examples, "%s%s", last->n > 1 ? ", " : "",
                        cli_trial_id(failed[i]));
    }
    qsort(list, n_groups, sizeof *list, by_count);
    *groups = list;
    return n_groups;
}

void table_of_failures(const struct content *content, struct text *out)
{
    struct arena *arena = content->cli->arena;
    const struct node **failed =
        arena_alloc(arena, content->n + 1, sizeof(const struct node *));
    struct failure *groups;
    size_t n = 0;
    for (size_t i = 0; i < content->n; i++)
        if (has_failed(content->trials[i]))
            failed[n++] = content->trials[i];
    if (n == 0)
        return;
    const size_t n_groups = group(arena, n, failed, &groups);
    text_printf(out,
                "<section><h2>Failures</h2><p>%zu of %zu trials failed.</p>"
                "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"Failures\"><table><thead><tr><th>Trials</th>"
                "<th class=\"left\">Reason</th><th class=\"left\">Which</th>"
                "</tr></thead><tbody>\n",
                n, content->n);
    for (size_t i = 0; i < n_groups; i++) {
        if (i < MOST_REASONS) {
            text_printf(out, "<tr><td>%zu</td><td class=\"left reason\">",
                        groups[i].n);
            markup_cut(out, groups[i].reason, REASON_CHARS);
            markup_put(out, "</td><td class=\"left\">",
                       text_string(&groups[i].examples),
                       groups[i].n > MOST_EXAMPLES ? ", \u2026" : "");
            text_puts(out, "</td></tr>\n");
        }
        text_free(&groups[i].examples);
    }
    text_puts(out, "</tbody></table></div>");
    if (n_groups > MOST_REASONS)
        text_printf(out, "<p>%zu more reasons are not shown.</p>",
                    n_groups - MOST_REASONS);
    text_puts(out, "</section>\n");
}

/* ---- all trials ---- */

struct ranked {
    const struct node *trial;
    double key; /* the smaller the better; NaN: no result */
    size_t place;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (isnan(left->key) != isnan(right->key))
        return isnan(left->key) ? 1 : -1;
    if (!isnan(left->key) && left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->place < right->place ? -1 : 1;
}

static struct ranked *rank(const struct content *content)
{
    const struct cli_study *study = content->study;
    struct ranked *ranked =
        arena_alloc(content->cli->arena, content->n + 1, sizeof *ranked);
    for (size_t i = 0; i < content->n; i++) {
        const double value = content_value(content->trials[i], study->metric);
        ranked[i] = (struct ranked){content->trials[i],
                                    study->maximize ? -value : value, i};
    }
    qsort(ranked, content->n, sizeof *ranked, by_rank);
    return ranked;
}

static void add_number(const struct node *value, struct text *out)
{
    double real;
    int64_t whole;
    if (value == NULL)
        text_puts(out, "<td></td>");
    else if (value->kind == NODE_NUMBER && !node_int64(value, &whole) &&
             node_double(value, &real))
        text_printf(out, "<td>%.6g</td>", real);
    else
        markup_put(out,
                   value->kind == NODE_NUMBER ? "<td>" : "<td class=\"left\">",
                   cli_scalar(value), "</td>");
}

static void add_row(const struct content *content, const struct node *trial,
                    struct text *out)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *ours = node_find(trial, "hypertune");
    const struct node *params = node_find(ours, "params");
    const int64_t took = cli_trial_elapsed(trial, content->now_ms);
    text_puts(out,
              content_is_best(content, trial) ? "<tr class=\"best\">" : "<tr>");
    markup_put(out, "<th scope=\"row\">", cli_trial_id(trial), "</th>");
    markup_put(out, "<td class=\"left\">", cli_trial_state(trial), "</td>");
    NODE_EACH (metric, content->study->metrics)
        add_number(
            cli_trial_metric(trial, node_get_string(metric, "metricId", "")),
            out);
    for (size_t i = 0; i < content->n_others; i++)
        add_number(cli_trial_metric(trial, content->others[i]), out);
    for (size_t i = 0; i < content->parameters.n; i++)
        add_number(node_find(params, content->parameters.items[i].name), out);
    markup_put(out, "<td>", cli_scalar(node_find(ours, "step")), "</td>");
    markup_put(out, "<td>", took > 0 ? clock_duration(span, took) : "",
               "</td></tr>\n");
}

static void add_heads(const struct content *content, struct text *out)
{
    text_puts(out, "<thead><tr><th>Trial</th><th class=\"left\">State</th>");
    NODE_EACH (metric, content->study->metrics)
        markup_put(out, "<th>", node_get_string(metric, "metricId", ""),
                   "</th>");
    for (size_t i = 0; i < content->n_others; i++)
        markup_put(out, "<th>", content->others[i], "</th>");
    for (size_t i = 0; i < content->parameters.n; i++)
        markup_put(out,
                   content->parameters.items[i].labels ? "<th class=\"left\">"
                                                       : "<th>",
                   content->parameters.items[i].name, "</th>");
    text_puts(out, "<th>Step</th><th>Took</th></tr></thead>\n");
}

void table_of_trials(const struct content *content, struct text *out)
{
    const struct ranked *ranked = rank(content);
    if (content->n == 0)
        return;
    text_puts(out, "<section><h2>All trials</h2>");
    if (content->n > MOST_ROWS)
        text_printf(out,
                    "<p>The best %d of %zu trials; the other %zu are left out "
                    "here: <code>hypertune export -o csv</code> has all.</p>",
                    MOST_ROWS, content->n, content->n - MOST_ROWS);
    text_puts(out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"All trials\"><table>");
    add_heads(content, out);
    text_puts(out, "<tbody>\n");
    for (size_t i = 0; i < content->n && i < MOST_ROWS; i++)
        add_row(content, ranked[i].trial, out);
    text_puts(out, "</tbody></table></div></section>\n");
}
