#include "hypertune/cli/report/figures.h"

#include <math.h>
#include <string.h>

#include "hypertune/cli/report/plot.h"
#include "hypertune/cli/report/results.h"

/* ---- history ---- */

/* A step at each succeeded trial that is better than all before it. */
static void add_best_line(const struct results *results, double last,
                          const struct plot *plot)
{
    double *xs = arena_alloc(results->arena, 2 * results->n + 1, sizeof *xs);
    double *ys = arena_alloc(results->arena, 2 * results->n + 1, sizeof *ys);
    size_t n = 0;
    for (size_t i = 0; i < results->n; i++) {
        const double value = results->values[i];
        if (strcmp(cli_trial_state(results->trials[i]), "SUCCEEDED") != 0)
            continue;
        if (n > 0 &&
            (results->maximize ? value <= ys[n - 1] : value >= ys[n - 1]))
            continue;
        if (n > 0) {
            xs[n] = results->ids[i];
            ys[n] = ys[n - 1];
            n++;
        }
        xs[n] = results->ids[i];
        ys[n++] = value;
    }
    if (n == 0)
        return;
    xs[n] = last;
    ys[n] = ys[n - 1];
    plot_line(plot, "so-far", n + 1, xs, ys);
}

void figure_history(const struct content *content, const struct node *metric,
                    struct text *out)
{
    struct results results;
    if (!results_collect(content, metric, &results))
        return;
    const double last =
        (double)node_get_int(content->trials[content->n - 1], "id", 0);
    const struct plot plot = {out, scale_of(0, last + 1, false), results.scale};
    text_puts(out, "<figure>");
    plot_begin(&plot, "Results in the order of the trials", "trial",
               results.metric);
    add_best_line(&results, last, &plot);
    results_draw(content, &results, results.ids, &plot);
    plot_end(&plot);
    results_end("Each result, and the best so far (line).", &results, out);
}

/* ---- goals against each other ---- */

void figure_front(const struct content *content, struct text *out)
{
    struct results x, y;
    const struct node *first = content->study->metrics;
    const struct node *second = first != NULL ? first->next : NULL;
    while (second != NULL && !content_is_goal(second))
        second = second->next;
    if (second == NULL || !results_collect(content, first, &x) ||
        !results_collect(content, second, &y))
        return;
    double *xs = arena_alloc(y.arena, y.n, sizeof *xs);
    for (size_t i = 0; i < y.n; i++)
        xs[i] = content_value(y.trials[i], x.metric);
    const struct plot plot = {out, x.scale, y.scale};
    text_puts(out, "<figure>");
    plot_begin(&plot, "Two goals against each other", x.metric, y.metric);
    results_draw(content, &y, xs, &plot);
    plot_end(&plot);
    results_end("Orange: no other trial is better in all goals.", &y, out);
}

/* ---- learning curves ---- */

/* How many values a list has, which are copied. */
static size_t numbers(const struct node *list, double into[])
{
    size_t n = 0;
    double value;
    NODE_EACH (one, node_items(list))
        if (node_double(one, &value) && isfinite(value))
            into[n++] = value;
    return n;
}

struct curve {
    size_t n;
    double *steps, *values;
    bool best;
};

static size_t read_curves(const struct content *content, struct curve curves[])
{
    struct arena *arena = content->cli->arena;
    size_t n = 0;
    NODE_EACH (one, content->curves) {
        const struct node *steps = node_find(one, "steps");
        const struct node *values = node_find(one, "values");
        if (values == NULL || steps == NULL || steps->count != values->count ||
            values->count < 2)
            continue;
        struct curve *curve = &curves[n];
        curve->steps = arena_alloc(arena, steps->count, sizeof(double));
        curve->values = arena_alloc(arena, steps->count, sizeof(double));
        curve->n = numbers(values, curve->values);
        curve->best = n == 0 && content->best != NULL;
        if (numbers(steps, curve->steps) == curve->n)
            n++;
    }
    return n;
}

void figure_curves(const struct content *content, struct text *out)
{
    struct arena *arena = content->cli->arena;
    size_t all = 0, points = 0;
    NODE_EACH (one, content->curves) {
        all++;
        points += node_find(one, "values") != NULL
                      ? node_find(one, "values")->count
                      : 0;
    }
    struct curve *curves = arena_alloc(arena, all + 1, sizeof *curves);
    const size_t n = read_curves(content, curves);
    if (n == 0)
        return;
    struct results results = {
        .metric = content->study->metric,
        .maximize = content->study->maximize,
        .values = arena_alloc(arena, points + 1, sizeof(double))};
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < curves[i].n; k++) {
            results.values[results.n++] = curves[i].values[k];
            low = fmin(low, curves[i].steps[k]);
            high = fmax(high, curves[i].steps[k]);
        }
    results.scale =
        scale_of_results(results.n, results.values, results.maximize);
    const struct plot plot = {out, scale_of(low, high, false), results.scale};
    text_puts(out, "<figure>");
    plot_begin(&plot, "Learning curves of the best trials", "step",
               results.metric);
    for (size_t i = n; i-- > 0;)
        plot_line(&plot, curves[i].best ? "curve best" : "curve", curves[i].n,
                  curves[i].steps, curves[i].values);
    plot_end(&plot);
    results_end(arena_printf(arena, "The course of the best %zu trials%s.", n,
                             curves[0].best ? "; orange: the best" : ""),
                &results, out);
}
