/* parameters.c - figures of what each parameter does. */

#include <math.h>
#include <string.h>

#include "hypertune/cli/report/figures.h"
#include "hypertune/cli/report/plot.h"
#include "hypertune/cli/report/results.h"

enum { MOST_SLICES = 12, MOST_BARS = 16 };

/* ---- importances ---- */

void figure_importances(const struct content *content, struct text *out)
{
    struct plot_bar bars[MOST_BARS];
    size_t n = 0, left = 0;
    NODE_EACH (one, content->importances) {
        const double share = node_get_double(one, "importance", 0);
        if (n == MOST_BARS) {
            left++;
            continue;
        }
        bars[n++] = (struct plot_bar){
            node_get_string(one, "parameter", ""), fmin(fmax(share, 0), 1),
            node_get_bool(one, "certain", false)
                ? arena_printf(content->cli->arena, "%.0f %%", 100 * share)
                : "?"};
    }
    if (n == 0)
        return;
    text_puts(out, "<figure>");
    plot_bars("How much each parameter matters", n, bars, out);
    results_end(
        arena_printf(content->cli->arena,
                     "How much of the variation of %s each parameter explains"
                     "%s.%s",
                     content->study->metric,
                     "; ?: cannot be told from no effect",
                     left > 0 ? " The others explain less." : ""),
        NULL, out);
}

/* ---- slices ---- */

/* Where labels are told apart by their place, dots of one label are spread by
 * the trial's id so that they do not hide each other. */
static double spread(double id)
{
    static const double golden = 0.6180339887498949, width = 0.5;
    const double turn = id * golden;
    return (turn - floor(turn) - 0.5) * width;
}

static struct scale numbers_scale(const struct node *spec, size_t n,
                                  const double xs[])
{
    const bool log =
        strcmp(node_get_string(spec, "scaleType", ""), "UNIT_LOG_SCALE") == 0;
    const struct node *range = node_find(spec, "doubleValueSpec");
    if (range == NULL)
        range = node_find(spec, "integerValueSpec");
    double low = node_get_double(range, "minValue", INFINITY);
    double high = node_get_double(range, "maxValue", -INFINITY);
    NODE_EACH (value,
               node_first(node_find(spec, "discreteValueSpec"), "values")) {
        double number;
        if (node_double(value, &number)) {
            low = fmin(low, number);
            high = fmax(high, number);
        }
    }
    for (size_t i = 0; i < n; i++) { /* of an earlier range, too */
        low = fmin(low, xs[i]);
        high = fmax(high, xs[i]);
    }
    return scale_of(low, high, log);
}

static void draw(const struct content *content, const struct results *results,
                 const char *name, struct scale scale, const double xs[],
                 struct text *out)
{
    const struct plot plot = {out, scale, results->scale};
    text_puts(out, "<figure>");
    plot_begin(&plot,
               arena_printf(results->arena, "%s by %s", results->metric, name),
               name, results->metric);
    results_draw(content, results, xs, &plot);
    plot_end(&plot);
    text_puts(out, "</figure>\n");
}

/* The value of a parameter in each trial; NaN where it has none. */
static void read_values(const struct results *results, const char *name,
                        const struct node *labels, double xs[])
{
    for (size_t i = 0; i < results->n; i++) {
        const struct node *value = node_find(
            node_find(node_find(results->trials[i], "hypertune"), "params"),
            name);
        xs[i] = NAN;
        if (value == NULL)
            continue;
        if (labels == NULL) {
            node_double(value, &xs[i]);
            continue;
        }
        size_t place = 0;
        NODE_EACH (label, labels) {
            if (strcmp(cli_scalar(label), cli_scalar(value)) == 0)
                xs[i] = (double)place + spread(results->ids[i]);
            place++;
        }
    }
}

static void add_slice(const struct content *content,
                      const struct results *results, const char *name,
                      struct text *out)
{
    const struct node *spec = content_parameter(content, name);
    const struct node *list =
        node_find(node_find(spec, "categoricalValueSpec"), "values");
    double *xs = arena_alloc(results->arena, results->n, sizeof *xs);
    if (spec == NULL)
        return;
    read_values(results, name, node_items(list), xs);
    if (list == NULL) {
        draw(content, results, name, numbers_scale(spec, results->n, xs), xs,
             out);
        return;
    }
    size_t n = 0;
    const char **labels =
        arena_alloc(results->arena, list->count + 1, sizeof *labels);
    NODE_EACH (label, node_items(list))
        labels[n++] = cli_scalar(label);
    draw(content, results, name, scale_of_labels(n, labels), xs, out);
}

/* The parameters, the most important first. */
static struct words in_order(const struct content *content)
{
    struct words names = {0};
    struct arena *arena = content->cli->arena;
    NODE_EACH (one, content->importances)
        words_add(arena, &names, node_get_string(one, "parameter", ""));
    for (size_t i = 0; i < content->parameters.n; i++)
        if (!words_include(&names, content->parameters.items[i].name))
            words_add(arena, &names, content->parameters.items[i].name);
    return names;
}

void figure_slices(const struct content *content, struct text *out)
{
    struct results results;
    const struct words names = in_order(content);
    if (content->study->metrics == NULL ||
        !results_collect(content, content->study->metrics, &results))
        return;
    for (size_t i = 0; i < names.n && i < MOST_SLICES; i++)
        add_slice(content, &results, names.items[i], out);
    if (names.n > MOST_SLICES)
        text_printf(out, "<p>%zu more parameters are in the table alone.</p>\n",
                    names.n - MOST_SLICES);
}
