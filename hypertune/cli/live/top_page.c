#include "hypertune/cli/live/top_page.h"

#include <string.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/page.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/frame/spark.h"
#include "hypertune/cli/study/describe.h"
#include "proto/base/clock.h"

enum {
    BAR = 12,
    GAP = 3,
    KEYS_WIDE = 78, /* columns from which the keys are words */
    TITLED = 3      /* lines of a table with one row and a blank before it */
};

/* ---- tables ---- */

static void span_cell(struct table *table, int64_t ms)
{
    char span[CLOCK_DURATION_BYTES];
    table_cell(table, ms >= 0 ? clock_duration(span, ms / 1000 * 1000) : "-");
}

static void add_study(struct table *table, const struct cli_study *study,
                      int64_t now, bool wide)
{
    struct text cell = {0};
    const long long limit = cli_study_limit(study);
    table_row(table);
    table_cell(table, study->name);
    cli_study_outcome(study, &cell);
    table_cell_text(table, &cell, "");
    if (limit > 0)
        spark_bar(cli_study_ended(study), limit, BAR, &cell);
    table_cell_text(table, &cell, "");
    cli_describe_counts(study, table);
    span_cell(table, cli_study_left_ms(study, now));
    if (wide)
        cli_describe_origin(study, now, table);
}

struct table *top_page_studies(struct arena *arena,
                               const struct overview *overview, size_t first,
                               size_t most, bool wide)
{
    struct table *table = table_new(arena);
    table_columns(table, "STUDY,STATE,PROGRESS,>TRIALS,>RUN,>FAIL,BEST,LEFT");
    if (wide)
        table_columns(table, "AGE,KIND,>ID,REASON");
    table_spare(table, "PROGRESS LEFT BEST RUN");
    for (size_t i = first; i < overview->n_studies && i - first < most; i++)
        add_study(table, &overview->studies[i], overview->asked_ms, wide);
    return table;
}

static void add_trial(struct table *table, const struct overview_trial *trial,
                      int64_t now)
{
    table_cell(table, trial->name);
    span_cell(table, trial->start_ms > 0 ? now - trial->start_ms : -1);
    table_cell(table, trial->step);
    if (trial->metric[0] == '\0')
        table_cell(table, "-");
    else
        table_cell_printf(table, "%s=%.6g", trial->metric, trial->value);
}

static void add_place(struct table *table, const struct node *runner)
{
    table_cells(table, node_get_string(runner, "runner", ""),
                node_get_string(runner, "engine", ""),
                node_get_string(runner, "host", ""), NULL);
    if (cli_runners_is_online(runner))
        table_cell_printf(table, "%s/%s", cli_scalar(node_find(runner, "busy")),
                          cli_scalar(node_find(runner, "slots")));
    else
        table_cell(table, node_get_string(runner, "state", ""));
}

/* The row of a runner's first trial has the runner's own cells. */
static void add_runner(struct table *table, const struct overview *overview,
                       const struct node *runner, size_t most)
{
    const char *id = node_get_string(runner, "runner", "");
    bool first = true;
    for (size_t i = 0; i <= overview->n_trials && table_rows(table) < most;
         i++) {
        bool end = i == overview->n_trials;
        const struct overview_trial *trial = &overview->trials[i];
        if (end ? !first : strcmp(trial->runner, id) != 0)
            continue;
        table_row(table);
        if (!first)
            table_cells(table, "", "", "", "", NULL);
        else
            add_place(table, runner);
        if (!end)
            add_trial(table, trial, overview->asked_ms);
        first = false;
    }
}

struct table *top_page_runners(struct arena *arena,
                               const struct overview *overview, size_t most)
{
    struct table *table = table_new(arena);
    table_columns(table, "RUNNER,ENGINE,HOST,>BUSY,<TRIAL,TIME,>STEP,NEWEST");
    table_spare(table, "ENGINE HOST STEP TIME BUSY");
    NODE_EACH (runner, node_items(overview->runners))
        add_runner(table, overview, runner, most);
    return table;
}

/* ---- the picture ---- */

static void add_server(struct page *page, struct arena *arena,
                       const struct overview *overview,
                       const struct top_look *look)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *server = overview->server;
    const struct node *disk = node_find(server, "disk");
    const char *read_only = node_get_string(server, "readOnlyReason", "");
    const int64_t uptime_ms = node_get_int(server, "uptimeMs", 0);
    const char *const parts[] = {
        arena_printf(arena, "up %s",
                     clock_duration(span, uptime_ms / 1000 * 1000)),
        arena_printf(
            arena, "database %s",
            cli_output_size(arena, node_get_int(server, "databaseBytes", 0))),
        arena_printf(
            arena, "disk %s of %s free",
            cli_output_size(arena, node_get_int(disk, "freeBytes", 0)),
            cli_output_size(arena, node_get_int(disk, "totalBytes", 0)))};
    text_print_safe(&page->line, "hypertune %s  %s",
                    node_get_string(server, "version", ""), look->url);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        page_join(page, parts[i], GAP, true);
    page_end(page, true);
    const char *const alarms[] = {read_only,
                                  node_get_string(disk, "alarm", "")};
    static const char *const before[] = {"takes no changes: ", ""};
    for (size_t i = 0; i < sizeof alarms / sizeof *alarms; i++) {
        if (alarms[i][0] == '\0')
            continue;
        text_print_safe(&page->line, "%s%s", before[i], alarms[i]);
        page_end(page, true);
    }
}

static void add_counts(struct page *page, struct arena *arena,
                       const struct overview *overview)
{
    int64_t busy;
    long long running = 0, paused = 0, trials = 0, waiting = 0;
    const int64_t all = overview_slots(overview->runners, &busy);
    for (size_t i = 0; i < overview->n_studies; i++) {
        const struct cli_study *study = &overview->studies[i];
        running += strcmp(study->state, "RUNNING") == 0;
        paused += strcmp(study->state, "PAUSED") == 0;
        trials += cli_study_running(study);
        waiting += cli_study_count(study, "requested");
    }
    text_printf(
        &page->line, "%zu %s: %lld running, %lld paused", overview->n_studies,
        overview->n_studies == 1 ? "study" : "studies", running, paused);
    page_join(page,
              arena_printf(arena, "%lld slots: %lld busy", (long long)all,
                           (long long)busy),
              GAP, false);
    page_join(page,
              arena_printf(arena, "trials: %lld running, %lld waiting", trials,
                           waiting),
              GAP, false);
    page_end(page, false);
}

static void add_silent(struct page *page, const struct overview *overview)
{
    struct text all = {0};
    for (size_t i = 0; i < overview->n_studies; i++) {
        const struct cli_study *study = &overview->studies[i];
        NODE_EACH (one, node_first(study->status, "silent"))
            text_print_safe(&all, "%s%s/%s %s", all.len > 0 ? "; " : "",
                            study->name, cli_scalar(node_find(one, "trial")),
                            node_get_string(one, "words", ""));
    }
    if (all.len > 0) {
        text_puts(&page->line, all.data);
        page_end(page, true);
    }
    text_free(&all);
}

static void add_table(struct page *page, const struct table *table)
{
    struct text lines = {0};
    page_end(page, false);
    table_print(table, page->width > 1 ? page->width - 1 : 1, &lines);
    page_lines(page, lines.data);
    text_free(&lines);
}

static void add_keys(struct page *page, const struct overview *overview,
                     const struct top_look *look, size_t shown)
{
    const size_t n = overview->n_studies;
    if (look->away) {
        text_puts(&page->line, " server away, trying again   [q]uit");
        page_end(page, true);
        return;
    }
    if (shown < n)
        text_printf(&page->line, " %zu to %zu of %zu, arrows scroll",
                    look->first + 1, look->first + shown, n);
    page_end(page, false);
    text_printf(&page->line,
                look->width >= KEYS_WIDE
                    ? " by %s%s  [s]tate [n]ame [t]rials [r]unning [f]ailed "
                      "[l]eft [a]ge  [q]uit"
                    : " by %s%s  s n t r f l a  [q]uit",
                look->reversed ? "-" : "", look->order);
    page_end(page, false);
}

/* Lines for the studies: runners get a third at least, if that is enough for
 * one, and all that the studies do not need. */
static size_t share(const struct overview *overview, size_t room,
                    size_t runner_lines)
{
    const size_t wanted = overview->n_studies + TITLED - 1;
    const size_t third = room / 3 >= TITLED ? room / 3 : 0;
    const size_t least = runner_lines < third ? runner_lines : third;
    return wanted < room - least ? wanted : room - least;
}

size_t top_page_print(struct arena *arena, const struct overview *overview,
                      const struct top_look *look, struct text *out)
{
    enum { FOOT = 2 };
    struct page page = {.width = look->width,
                        .height = look->height > 1 ? look->height - 1 : 1,
                        .color = look->color,
                        .out = out};
    add_server(&page, arena, overview, look);
    add_counts(&page, arena, overview);
    add_silent(&page, overview);
    const size_t used = page.lines + FOOT;
    const size_t room = page.height > used ? page.height - used : 0;
    struct table *runners = top_page_runners(arena, overview, page.height);
    const size_t studies =
        share(overview, room, table_rows(runners) + TITLED - 1);
    size_t shown = 0;
    if (studies >= TITLED) {
        shown = studies - TITLED + 1;
        if (shown > overview->n_studies - look->first)
            shown = overview->n_studies - look->first;
        add_table(&page,
                  top_page_studies(arena, overview, look->first, shown, false));
    }
    const size_t end = used - FOOT + room;
    if (node_items(overview->runners) != NULL && end >= page.lines + TITLED)
        add_table(&page, top_page_runners(arena, overview,
                                          end - page.lines - (TITLED - 1)));
    add_keys(&page, overview, look, shown);
    page_fini(&page);
    return page.lines;
}
