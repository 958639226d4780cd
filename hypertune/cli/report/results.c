#include "hypertune/cli/report/results.h"

#include <math.h>
#include <string.h>

#include "hypertune/cli/report/markup.h"

enum { MOST_TIPS = 500 }; /* each is an element: more make a page slow */

bool results_collect(const struct content *content, const struct node *metric,
                     struct results *results)
{
    struct arena *arena = content->cli->arena;
    *results = (struct results){
        .arena = arena,
        .metric = node_get_string(metric, "metricId", ""),
        .maximize = content_maximizes(metric),
        .trials =
            arena_alloc(arena, content->n + 1, sizeof(const struct node *)),
        .ids = arena_alloc(arena, content->n + 1, sizeof(double)),
        .values = arena_alloc(arena, content->n + 1, sizeof(double))};
    for (size_t i = 0; i < content->n; i++) {
        const double value = content_value(content->trials[i], results->metric);
        if (isnan(value))
            continue;
        results->trials[results->n] = content->trials[i];
        results->ids[results->n] =
            (double)node_get_int(content->trials[i], "id", 0);
        results->values[results->n++] = value;
    }
    if (results->n == 0)
        return false;
    results->scale =
        scale_of_results(results->n, results->values, results->maximize);
    return true;
}

void results_end(const char *caption, const struct results *results,
                 struct text *out)
{
    size_t n = 0;
    double far = NAN;
    markup_put(out, "<figcaption>", caption, "");
    for (size_t i = 0; results != NULL && i < results->n; i++) {
        if (scale_holds(&results->scale, results->values[i]))
            continue;
        n++;
        far = results->maximize ? fmin(far, results->values[i])
                                : fmax(far, results->values[i]);
    }
    if (n > 0)
        text_printf(out, " %zu of %zu values %s %s the axis, %s %.4g.", n,
                    results->n, n == 1 ? "is" : "are",
                    results->maximize ? "below" : "above",
                    results->maximize ? "down to" : "up to", far);
    text_puts(out, "</figcaption></figure>\n");
}

/* ---- points by what became of the trial ---- */

enum kind { STOPPED, SUCCEEDED, BEST, KINDS };

static enum kind kind_of(const struct content *content,
                         const struct node *trial)
{
    if (content_is_best(content, trial))
        return BEST;
    return strcmp(cli_trial_state(trial), "STOPPED") == 0 ? STOPPED : SUCCEEDED;
}

static const char *tip_of(const struct results *results, size_t i)
{
    struct text tip = {0};
    text_printf(&tip, "trial %s: %s=%.6g  ", cli_trial_id(results->trials[i]),
                results->metric, results->values[i]);
    cli_trial_params(results->trials[i], &tip);
    return text_take(&tip, results->arena);
}

void results_draw(const struct content *content, const struct results *results,
                  const double xs[], const struct plot *plot)
{
    static const char *const classes[KINDS] = {"dots stopped", "dots",
                                               "dots best"};
    const bool tips = results->n <= MOST_TIPS;
    double *x = arena_alloc(results->arena, results->n, sizeof *x);
    double *y = arena_alloc(results->arena, results->n, sizeof *y);
    const char **tip = arena_alloc(results->arena, results->n, sizeof *tip);
    for (enum kind kind = STOPPED; kind < KINDS; kind++) {
        size_t n = 0;
        for (size_t i = 0; i < results->n; i++) {
            if (kind_of(content, results->trials[i]) != kind)
                continue;
            x[n] = xs[i];
            y[n] = results->values[i];
            tip[n++] = tips ? tip_of(results, i) : NULL;
        }
        if (n > 0)
            plot_points(plot, classes[kind], n, x, y, tips ? tip : NULL);
    }
}
