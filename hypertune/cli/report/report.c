#include "hypertune/cli/report/report.h"

#include <string.h>

#include "hypertune/cli/report/content.h"
#include "hypertune/cli/report/figures.h"
#include "hypertune/cli/report/markup.h"
#include "hypertune/cli/report/style.h"
#include "hypertune/cli/report/tables.h"
#include "proto/base/clock.h"

/* The page loads nothing and runs nothing, whatever a name or a reason of the
 * study says; its style is its own. */
static const char opening[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
    "'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta name=\"referrer\" content=\"no-referrer\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n";

/* ---- what it is ---- */

static void add_goals(const struct cli_study *study, struct text *out)
{
    NODE_EACH (metric, study->metrics) {
        if (!content_is_goal(metric))
            continue;
        text_puts(out, metric == study->metrics ? "" : ", ");
        markup_put(out, content_maximizes(metric) ? "maximize " : "minimize ",
                   node_get_string(metric, "metricId", ""), "");
    }
}

static void add_head(const struct content *content, struct text *out)
{
    const struct cli_study *study = content->study;
    const char *title = node_get_string(study->job, "displayName", study->name);
    text_puts(out, opening);
    markup_put(out, "<title>", title, " \u2013 hypertune</title>\n");
    text_puts(out, "<style>\n");
    text_puts(out, report_style);
    text_puts(out, "</style>\n</head>\n<body>\n<main>\n");
    markup_put(out, "<h1>", title, "</h1>\n");
    if (strcmp(title, study->name) != 0) /* as commands name it */
        markup_put(out, "<p>", study->name, "</p>\n");
    markup_put(out, "<p><strong class=\"state\">", study->state, "</strong> ");
    add_goals(study, out);
    if (study->reason[0] != '\0')
        markup_put(out, " \u2013 ", study->reason, "");
    text_puts(out, "</p>\n");
}

static void add_figure(const char *label, const char *value, struct text *out)
{
    markup_put(out, "<div><dt>", label, "</dt>");
    markup_put(out, "<dd>", value, "</dd></div>\n");
}

static void add_count(const char *label, long long n, struct text *out)
{
    struct text words = {0};
    text_printf(&words, "%lld", n);
    if (n > 0)
        add_figure(label, words.data, out);
    text_free(&words);
}

static void add_counts(const struct content *content, struct text *out)
{
    char span[CLOCK_DURATION_BYTES];
    const struct cli_study *study = content->study;
    struct text words = {0};
    text_puts(out, "<dl class=\"figures\">\n");
    cli_trial_best(study, &words);
    if (words.len > 0)
        add_figure("Best", words.data, out);
    text_clear(&words);
    cli_study_progress(study, &words);
    add_figure("Trials ended", text_string(&words), out);
    text_free(&words);
    add_count("Running", cli_study_running(study), out);
    add_count("Stopped early", cli_study_count(study, "stopped"), out);
    add_count("Failed", cli_study_count(study, "failed"), out);
    const int64_t took = cli_study_elapsed_ms(study, content->now_ms);
    if (took > 0)
        add_figure("Took", clock_duration(span, took), out);
    text_puts(out, "</dl>\n");
}

/* ---- what people wrote ---- */

static void add_notes(const struct content *content, struct text *out)
{
    const char *note = node_get_string(content->notes, "note", "");
    const struct node *tags = node_first(content->notes, "tags");
    if (note[0] == '\0' && tags == NULL)
        return;
    text_puts(out, "<section><h2>Notes</h2>");
    if (tags != NULL)
        text_puts(out, "<p class=\"tags\">");
    NODE_EACH (tag, tags)
        markup_put(out, "<span>", cli_scalar(tag), "</span> ");
    if (tags != NULL)
        text_puts(out, "</p>");
    text_puts(out, "<div class=\"note\">");
    markup_lines(out, note);
    text_puts(out, "</div></section>\n");
}

/* ---- the best trial ---- */

static void add_parameters(const struct node *trial, struct text *out)
{
    text_puts(out, "<dl class=\"values\">\n");
    NODE_EACH (param, node_first(node_find(trial, "hypertune"), "params"))
        add_figure(param->key, cli_scalar(param), out);
    text_puts(out, "</dl>\n");
}

static void add_best(const struct content *content, struct text *out)
{
    const struct node *trial = content->best;
    struct text words = {0};
    if (trial == NULL)
        return;
    markup_put(out, "<section><h2>Best: trial ", cli_trial_id(trial),
               "</h2><p>");
    cli_trial_results(content->study, trial, &words);
    markup_put(out, "", text_string(&words), "");
    text_clear(&words);
    markup_put(out, ", at step ",
               cli_scalar(node_find(node_find(trial, "hypertune"), "step")),
               ".</p>\n");
    add_parameters(trial, out);
    cli_trial_args(trial, &words);
    if (words.len > 0)
        markup_put(out,
                   "<p>As arguments:</p><pre class=\"copy\" "
                   "tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Arguments\">",
                   words.data, "</pre>");
    text_free(&words);
    text_puts(out, "</section>\n");
}

/* ---- figures ---- */

static void add_figures(const struct content *content, struct text *out)
{
    struct text figures = {0};
    NODE_EACH (metric, content->study->metrics)
        if (content_is_goal(metric))
            figure_history(content, metric, &figures);
    figure_front(content, &figures);
    figure_curves(content, &figures);
    figure_importances(content, &figures);
    if (figures.len > 0) {
        text_puts(out, "<section><h2>Results</h2><div class=\"grid\">\n");
        text_puts(out, figures.data);
        text_puts(out, "</div></section>\n");
    }
    text_clear(&figures);
    figure_slices(content, &figures);
    if (figures.len > 0) {
        text_puts(out, "<section><h2>Parameters</h2><div class=\"grid\">\n");
        text_puts(out, figures.data);
        text_puts(out, "</div></section>\n");
    }
    text_free(&figures);
}

/* ---- where it is from ---- */

static void add_times(const struct content *content, struct text *out)
{
    static const struct {
        const char *key, *label;
    } times[] = {{"createTimeMs", "Created"},
                 {"startTimeMs", "Started"},
                 {"endTimeMs", "Ended"}};
    char stamp[CLOCK_STAMP_BYTES];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const int64_t at =
            node_get_int(content->study->status, times[i].key, 0);
        if (at > 0)
            add_figure(times[i].label, clock_stamp(stamp, at), out);
    }
    add_figure("This page", clock_stamp(stamp, content->now_ms), out);
}

/* What the best trial ran with, as its runner found it. */
static void add_versions(const struct content *content, struct text *out)
{
    const struct node *facts =
        node_find(node_find(content->best, "hypertune"), "facts");
    const struct node *git = node_find(facts, "git");
    const struct node *python = node_find(facts, "python");
    struct text words = {0};
    add_figure("hypertune", content->version, out);
    if (git != NULL) {
        text_printf(&words, "%s %s%s", node_get_string(git, "commit", ""),
                    node_get_string(git, "branch", ""),
                    node_get_bool(git, "dirty", false)
                        ? ", with changes that are not committed"
                        : "");
        add_figure("Code of the best", words.data, out);
        text_clear(&words);
    }
    NODE_EACH (image, node_first(facts, "images"))
        add_figure("Image of the best", cli_scalar(image), out);
    if (python != NULL)
        text_puts(&words, node_get_string(python, "version", ""));
    NODE_EACH (package, node_first(python, "packages"))
        text_printf(&words, ", %s %s", package->key, cli_scalar(package));
    if (words.len > 0)
        add_figure("Python of the best", words.data, out);
    text_free(&words);
}

static void add_origin(const struct content *content, struct text *out)
{
    struct text words = {0};
    text_puts(out, "<section><h2>Origin</h2><dl class=\"values\">\n");
    add_times(content, out);
    cli_study_algorithm(content->study, &words);
    add_figure("Search", text_string(&words), out);
    text_free(&words);
    add_figure("Seed", node_get_string(content->study->status, "seed", "-"),
               out);
    add_versions(content, out);
    text_puts(out, "</dl></section>\n");
    if (content->spec[0] == '\0')
        return;
    text_puts(out, "<section><h2>Spec</h2><pre tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Spec\">");
    markup_lines(out, content->spec);
    text_puts(out, "</pre></section>\n");
}

enum ht_status report_write(struct cli *cli, const struct cli_study *study,
                            struct text *out, size_t *trials,
                            struct ht_error *err)
{
    struct content content;
    const enum ht_status status = content_read(cli, study, &content, err);
    if (status != HT_OK)
        return status;
    add_head(&content, out);
    add_counts(&content, out);
    add_notes(&content, out);
    add_best(&content, out);
    add_figures(&content, out);
    table_of_failures(&content, out);
    table_of_trials(&content, out);
    add_origin(&content, out);
    text_puts(out, "</main>\n</body>\n</html>\n");
    *trials = content.n;
    return HT_OK;
}
