#include "hypertune/cli/live/picture.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "hypertune/cli/frame/page.h"
#include "hypertune/cli/frame/spark.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/read_logs.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"

enum {
    BAR = 40,
    HISTORY = 32,
    RUNNER = 8,       /* columns of a runner's name */
    CURVE_WIDE = 60,  /* columns of the terminal from which curves, */
    TIME_WIDE = 48,   /* times, */
    KEYS_WIDE = 64,   /* keys in words, */
    RUNNER_WIDE = 90, /* runners */
    WHY_WIDE = 110,   /* and reasons of choices are shown */
    GAP = 8,
    REASON_LINES = 3,   /* of why a study is as it is, */
    REASON_HEIGHT = 20, /* one on a terminal of fewer lines */
    RUNNING_LEAST = 2   /* lines that running trials keep: titles, one trial */
};

/* The parts of a picture: the study above, its running trials, and a foot that
 * is made first, so that they get what is left between. */
struct view {
    const struct frame *frame;
    const struct cli_study *study;
    struct page page;
};

static const char *span_text(int64_t ms, char span[CLOCK_DURATION_BYTES])
{
    return clock_duration(span, ms > 0 ? ms / 1000 * 1000 : 0);
}

/* ---- the study ---- */

static void add_head(struct view *view)
{
    const struct cli_study *study = view->study;
    char span[CLOCK_DURATION_BYTES];
    const int64_t now = view->frame->now_ms;
    const int64_t left = cli_study_left_ms(study, now);
    struct text *line = &view->page.line, times = {0};
    text_print_safe(line, "%s  ", study->name);
    cli_study_outcome(study, line);
    text_puts(line, "  ");
    if (study->metric[0] == '\0') {
        text_puts(line, study->home->kind_name);
    } else {
        cli_study_algorithm(study, line);
        text_print_safe(line, "  %s%s",
                        study->maximize ? "maximize " : "minimize ",
                        study->metric);
    }
    text_printf(&times, "%s elapsed",
                span_text(cli_study_elapsed_ms(study, now), span));
    if (left >= 0)
        text_printf(&times, ", about %s left", span_text(left, span));
    page_join(&view->page, times.data, GAP, true);
    page_end(&view->page, true);
    text_free(&times);
}

static void add_progress(struct view *view)
{
    const struct cli_study *study = view->study;
    const struct frame *frame = view->frame;
    long long ended = cli_study_ended(study), all = cli_study_limit(study);
    struct text *line = &view->page.line, facts = {0};
    text_puts(line, "trials ");
    if (all > 0) {
        size_t width = frame->width / 3 < BAR ? frame->width / 3 : BAR;
        spark_bar(ended, all, width, line);
        text_printf(line, "  %lld/%lld", ended, all);
    } else {
        text_printf(line, "%lld", ended);
    }
    if (frame->slots > 0)
        text_printf(&facts, "%lld slots: %lld busy   ", (long long)frame->slots,
                    (long long)frame->busy);
    else
        text_printf(&facts, "%lld running   ",
                    cli_study_count(study, "active"));
    text_printf(&facts, "%lld failed   %lld stopped early",
                cli_study_count(study, "failed"),
                cli_study_count(study, "stopped"));
    page_join(&view->page, facts.data, 5, false);
    page_end(&view->page, false);
    text_free(&facts);
}

/* Why trials wait, or why the study ended; nothing in the usual case. */
static void add_reason(struct view *view)
{
    const struct cli_study *study = view->study;
    bool usual = strcmp(study->state, "RUNNING") == 0 &&
                 cli_study_count(study, "active") > 0 &&
                 cli_study_count(study, "requested") == 0;
    if (usual || study->reason[0] == '\0')
        return;
    struct text safe = {0};
    text_escape(&safe, study->reason);
    cli_study_failures(study, "; ", &safe);
    text_puts(&view->page.line, "why    ");
    page_wrap(&view->page, safe.data,
              view->page.height < REASON_HEIGHT ? 1 : REASON_LINES);
    text_free(&safe);
}

/* Trials that probably hang. */
static void add_silent(struct view *view)
{
    NODE_EACH (one, node_first(view->study->status, "silent")) {
        text_print_safe(&view->page.line, "silent trial %s is %s",
                        cli_scalar(node_find(one, "trial")),
                        node_get_string(one, "words", ""));
        page_end(&view->page, true);
    }
}

static void add_best(struct view *view)
{
    char span[CLOCK_DURATION_BYTES];
    const struct frame *frame = view->frame;
    const struct node *best = view->study->best;
    struct text *line = &view->page.line, curve = {0};
    if (view->study->metric[0] == '\0')
        return;
    text_puts(line, best == NULL ? "best   none yet" : "best   ");
    if (best == NULL) {
        page_end(&view->page, false);
        return;
    }
    int64_t end =
        node_get_int(node_find(best, "hypertune"), "endTimeMs", frame->now_ms);
    cli_trial_objective(best, line);
    if (view->study->front != NULL)
        text_printf(line, ", one of %zu that none beats",
                    view->study->front->count);
    text_printf(line, "  trial %s, %s ago", cli_trial_id(best),
                span_text(frame->now_ms - end, span));
    if (frame->width >= CURVE_WIDE &&
        spark_history(frame->history, frame->n_history, view->study->maximize,
                      HISTORY, &curve))
        page_join(&view->page, curve.data, GAP / 2, true);
    text_free(&curve);
    page_end(&view->page, true);
    text_puts(line, "       ");
    cli_trial_flags(best, line);
    page_end(&view->page, false);
}

/* ---- running trials ---- */

static void add_titles(struct view *view)
{
    char title[11] = "";
    const struct frame *frame = view->frame;
    struct text *line = &view->page.line;
    for (size_t i = 0; i + 1 < sizeof title && frame->metric[i] != '\0'; i++) {
        const unsigned char c = (unsigned char)frame->metric[i];
        title[i] = (char)(isprint(c) && c < 128 ? toupper(c) : '?');
    }
    text_printf(line, "RUNNING   %-5s %5s %10s", "ID", "STEP", title);
    if (frame->width >= CURVE_WIDE)
        text_printf(line, "  %-*s", FRAME_CURVE, "CURVE");
    if (frame->width >= RUNNER_WIDE)
        text_printf(line, "  %-*s", RUNNER, "RUNNER");
    if (frame->width >= TIME_WIDE)
        text_printf(line, "  %-6s", "TIME");
    if (frame->width >= WHY_WIDE)
        text_printf(line, "  %-8s", "WHY");
    text_puts(line, "  parameters");
    page_end(&view->page, false);
}

static void add_slot(struct view *view, const struct frame_slot *slot)
{
    char span[CLOCK_DURATION_BYTES];
    const struct frame *frame = view->frame;
    struct page *page = &view->page;
    struct text *line = &page->line, curve = {0};
    int64_t elapsed = slot->start_ms > 0 ? frame->now_ms - slot->start_ms : 0;
    text_printf(line, "          %-5s %5s", slot->id, slot->step);
    if (isnan(slot->value))
        text_printf(line, " %10s", "-");
    else
        text_printf(line, " %10.4g", slot->value);
    spark_curve(slot->curve, slot->n_curve, &curve);
    if (frame->width >= CURVE_WIDE)
        page_padded(page, text_string(&curve), FRAME_CURVE);
    text_free(&curve);
    if (frame->width >= RUNNER_WIDE)
        page_padded(page, slot->runner, RUNNER);
    if (frame->width >= TIME_WIDE)
        text_printf(line, "  %-6s", span_text(elapsed, span));
    if (frame->width >= WHY_WIDE)
        page_padded(page, slot->why, 8);
    const char *params = text_string(&slot->params);
    size_t whole = table_width(line->data) + 2 + table_width(params);
    if (whole >= frame->width)
        params = text_string(&slot->brief);
    if (slot->starting && slot->words.len > 0)
        params = slot->words.data;
    text_printf(line, "  %s", params);
    page_end(page, false);
}

/* As many as fit into `room` lines, titles and a blank line with them. */
static void add_running(struct view *view, size_t room)
{
    const struct frame *frame = view->frame;
    if (frame->n_slots == 0 || room < RUNNING_LEAST)
        return;
    if (room > frame->n_slots + 1) {
        page_end(&view->page, false);
        room--;
    }
    add_titles(view);
    for (size_t i = 0; i < frame->n_slots && i + 1 < room; i++)
        add_slot(view, &frame->running[i]);
}

/* ---- the foot ---- */

static void add_last(struct view *view)
{
    const struct frame *frame = view->frame;
    if (frame->last[0].len == 0)
        return;
    text_printf(&view->page.line, "LAST      %s", frame->last[0].data);
    for (size_t i = 1; i < FRAME_LAST && frame->last[i].len > 0; i++)
        page_join(&view->page, frame->last[i].data, 3, false);
    page_end(&view->page, false);
    if (frame->failure.len == 0 || frame->since_failure < FRAME_LAST)
        return;
    text_printf(&view->page.line, "FAILURE   %s", frame->failure.data);
    page_end(&view->page, false);
}

/* What the m key does to a study that lacks its metric. */
static void add_metric(struct view *view)
{
    const char *pattern = cli_metric_recognised(view->study);
    if (pattern == NULL || view->frame->away ||
        cli_study_is_over(view->study->state))
        return;
    text_puts(&view->page.line, "METRIC    [m] read such lines: ");
    text_escape(&view->page.line, pattern);
    page_end(&view->page, false);
}

static void add_keys(struct view *view)
{
    const struct frame *frame = view->frame;
    bool over = cli_study_is_over(view->study->state);
    bool paused = strcmp(view->study->state, "PAUSED") == 0;
    bool words = frame->width > KEYS_WIDE;
    if (frame->away)
        text_puts(&view->page.line, " server away, trying again   [q]uit");
    else if (frame->question != NULL && frame->question[0] != '\0')
        text_printf(&view->page.line, " %s", frame->question);
    else if (!over)
        text_printf(&view->page.line,
                    words ? " %s  [s]top  [l]ogs  [b]est  [q]uit (the study "
                            "continues)"
                          : " %s [s]top [l]ogs [b]est [q]uit",
                    paused ? "[r]esume" : "[p]ause");
    if (view->page.line.len > 0)
        page_end(&view->page, frame->away);
}

static void add_note(struct view *view)
{
    const char *note = view->frame->note;
    while (note != NULL && *note != '\0') {
        struct text line = {0};
        size_t len = strcspn(note, "\n");
        text_append(&line, note, len);
        text_escape(&view->page.line, text_string(&line));
        text_free(&line);
        page_end(&view->page, false);
        note += len + (note[len] == '\n');
    }
}

/* A low terminal shows the keys and the answer to a key first. */
static void add_foot(struct view *view)
{
    enum { LOW = 4, LOW_ASKED = 9 };
    bool asked = view->frame->note != NULL && view->frame->note[0] != '\0';
    if (view->page.height >= (asked ? LOW_ASKED : LOW))
        add_last(view);
    add_metric(view);
    add_keys(view);
    add_note(view);
}

size_t cli_frame_print(const struct frame *frame, const struct cli_study *study,
                       struct text *out)
{
    struct text lines = {0};
    struct view view = {
        .frame = frame,
        .study = study,
        .page = {.width = frame->width, .color = frame->color, .out = out}};
    struct view foot = view;
    view.page.height = frame->height > 1 ? frame->height - 1 : 1;
    add_head(&view);
    add_progress(&view);
    add_reason(&view);
    add_silent(&view);
    add_best(&view);
    size_t room = view.page.height - view.page.lines;
    size_t kept = frame->n_slots > 0 ? RUNNING_LEAST : 0;
    foot.page.out = &lines;
    foot.page.height = room > kept ? room - kept : 0;
    add_foot(&foot);
    add_running(&view, room - foot.page.lines);
    view.page.lines += foot.page.lines;
    text_append(out, text_string(&lines), lines.len);
    text_free(&lines);
    page_fini(&view.page);
    page_fini(&foot.page);
    return view.page.lines;
}
