#include "hypertune/cli_frame.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hypertune/cli_table.h"
#include "proto/clock.h"

enum {
    BAR = 40,
    HISTORY = 32,
    RUNNER = 8,       /* columns of a runner's name */
    CURVE_WIDE = 60,  /* columns of the terminal from which curves, */
    TIME_WIDE = 48,   /* times, */
    RUNNER_WIDE = 90, /* runners and the history are shown */
    FIXED_LINES = 10, /* all but the running trials */
    GAP = 8
};

/* ---- small pictures ---- */

void cli_frame_curve(const double values[], size_t n, struct text *out)
{
    static const char levels[] = "_.-=+*#";
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    for (size_t i = 0; i < n; i++) {
        double height = high > low ? (values[i] - low) / (high - low) : 0.5;
        size_t level = isfinite(height) ? (size_t)(height * 6 + 0.5) : 0;
        text_append(out, isfinite(values[i]) ? levels + level : "?", 1);
    }
}

/* The best of two objectives, either of which may be missing (NaN). */
static double better(double a, double b, bool maximize)
{
    return maximize ? fmax(a, b) : fmin(a, b);
}

bool cli_frame_history(const double values[], size_t n, bool maximize,
                       size_t width, struct text *out)
{
    static const char levels[] = "_.-''";
    double first = NAN, last = NAN, best = NAN;
    size_t finite = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        finite++;
        first = isnan(first) ? values[i] : first;
        last = better(last, values[i], maximize);
    }
    if (finite < 2)
        return false;
    text_printf(out, "%.3g |", first);
    for (size_t column = 0; column < width; column++) {
        for (; at < (column + 1) * n / width; at++) {
            if (isfinite(values[at]))
                best = better(best, values[at], maximize);
        }
        double low = fmin(first, last), span = fabs(last - first);
        double height = span > 0 ? (best - low) / span : 1;
        text_append(out, isnan(best) ? " " : levels + (size_t)(height * 4), 1);
    }
    text_printf(out, "| %.3g", last);
    return true;
}

void cli_frame_bar(int64_t done, int64_t all, size_t width, struct text *out)
{
    size_t filled = 0;
    if (all > 0 && done > 0)
        filled = (size_t)((double)(done < all ? done : all) / (double)all *
                          (double)width);
    for (size_t i = 0; i < width; i++)
        text_puts(out, i < filled ? "#" : ".");
}

/* ---- lines ---- */

struct page {
    const struct frame *frame;
    const struct cli_study *study;
    struct text line; /* the one that is being made */
    struct text *out;
    size_t lines;
};

/* Ends a line, foreign bytes already escaped, cut to the terminal. */
static void end_line(struct page *page, bool strong)
{
    const struct frame *frame = page->frame;
    if (page->lines + 1 < frame->height || page->lines == 0) {
        text_puts(page->out, strong && frame->color ? "\033[1m" : "");
        table_cut(page->out, page->line.data != NULL ? page->line.data : "",
                  frame->width > 1 ? frame->width - 1 : 1);
        text_puts(page->out, strong && frame->color ? "\033[0m\n" : "\n");
        page->lines++;
    }
    text_clear(&page->line);
}

/* Appends more to the line behind a gap, or as the next line when the terminal
 * is too narrow for both. */
static void join(struct page *page, const char *more, size_t gap, bool strong)
{
    size_t width = table_width(page->line.data != NULL ? page->line.data : "") +
                   gap + table_width(more);
    if (width < page->frame->width) {
        text_printf(&page->line, "%*s%s", (int)gap, "", more);
        return;
    }
    end_line(page, strong);
    text_printf(&page->line, "  %s", more);
}

static const char *span_text(int64_t ms, char span[CLOCK_DURATION_BYTES])
{
    return clock_duration(span, ms > 0 ? ms / 1000 * 1000 : 0);
}

static void add_times(const struct page *page, struct text *line)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *status = page->study->status;
    int64_t start = node_get_int(status, "startTimeMs", 0);
    int64_t end = node_get_int(status, "endTimeMs", page->frame->now_ms);
    int64_t elapsed = start > 0 && end > start ? end - start : 0;
    int64_t ended = cli_study_ended(page->study);
    int64_t all = cli_study_limit(page->study);
    text_printf(line, "%s elapsed", span_text(elapsed, span));
    if (ended >= 2 && all > ended && !cli_study_is_over(page->study->state)) {
        double left = (double)elapsed / (double)ended * (double)(all - ended);
        text_printf(line, ", about %s left", span_text((int64_t)left, span));
    }
}

static void add_head(struct page *page)
{
    const struct cli_study *study = page->study;
    struct text times = {0};
    text_escape(&page->line, study->name);
    text_printf(&page->line, "  %s  ", study->state);
    if (study->metric[0] == '\0') {
        text_puts(&page->line, study->home->kind_name);
    } else {
        cli_study_algorithm(study, &page->line);
        text_puts(&page->line, "  ");
        text_puts(&page->line, study->maximize ? "maximize " : "minimize ");
        text_escape(&page->line, study->metric);
    }
    add_times(page, &times);
    join(page, times.data, GAP, true);
    end_line(page, true);
    text_free(&times);
}

static void add_progress(struct page *page)
{
    const struct cli_study *study = page->study;
    const struct frame *frame = page->frame;
    long long ended = cli_study_ended(study), all = cli_study_limit(study);
    struct text facts = {0};
    text_puts(&page->line, "trials ");
    if (all > 0) {
        size_t width = frame->width / 3 < BAR ? frame->width / 3 : BAR;
        cli_frame_bar(ended, all, width, &page->line);
        text_printf(&page->line, "  %lld/%lld", ended, all);
    } else {
        text_printf(&page->line, "%lld", ended);
    }
    if (frame->slots > 0)
        text_printf(&facts, "%lld slots: %lld busy   ", (long long)frame->slots,
                    (long long)frame->busy);
    else
        text_printf(&facts, "%lld running   ",
                    cli_study_count(study, "active"));
    text_printf(&facts, "%lld failed   %lld stopped early",
                cli_study_count(study, "failed") +
                    cli_study_count(study, "infeasible"),
                cli_study_count(study, "stopped"));
    join(page, facts.data, 5, false);
    end_line(page, false);
    text_free(&facts);
}

static void add_best(struct page *page)
{
    char span[CLOCK_DURATION_BYTES];
    const struct frame *frame = page->frame;
    const struct node *best = node_find(page->study->status, "best");
    struct text curve = {0};
    if (page->study->metric[0] == '\0')
        return;
    if (best == NULL) {
        text_puts(&page->line, "best   none yet");
        end_line(page, false);
        return;
    }
    int64_t end =
        node_get_int(node_find(best, "hypertune"), "endTimeMs", frame->now_ms);
    text_puts(&page->line, "best   ");
    cli_trial_objective(best, &page->line);
    if (cli_study_has_front(page->study))
        text_printf(&page->line, ", one of %zu that none beats",
                    cli_study_front(page->study));
    text_printf(&page->line, "  trial %s, %s ago", cli_trial_id(best),
                span_text(frame->now_ms - end, span));
    if (frame->width >= RUNNER_WIDE &&
        cli_frame_history(frame->history, frame->n_history,
                          page->study->maximize, HISTORY, &curve))
        text_printf(&page->line, "      %s", curve.data);
    text_free(&curve);
    end_line(page, true);
    text_puts(&page->line, "       ");
    cli_trial_args(best, &page->line);
    end_line(page, false);
}

/* ---- running trials ---- */

static void add_titles(struct page *page)
{
    char title[11] = "";
    const struct frame *frame = page->frame;
    for (size_t i = 0; i + 1 < sizeof title && frame->metric[i] != '\0'; i++)
        title[i] = (char)toupper((unsigned char)frame->metric[i]);
    text_printf(&page->line, "RUNNING   %-5s %5s %10s", "ID", "STEP", title);
    if (frame->width >= CURVE_WIDE)
        text_printf(&page->line, "  %-*s", FRAME_CURVE, "CURVE");
    if (frame->width >= RUNNER_WIDE)
        text_printf(&page->line, "  %-*s", RUNNER, "RUNNER");
    if (frame->width >= TIME_WIDE)
        text_printf(&page->line, "  %-6s", "TIME");
    text_puts(&page->line, "  parameters");
    end_line(page, false);
}

static void add_padded(struct text *line, const char *shown, size_t width)
{
    struct text safe = {0}, cut = {0};
    text_escape(&safe, shown);
    table_cut(&cut, safe.data != NULL ? safe.data : "", width);
    size_t used = cut.data != NULL ? table_width(cut.data) : 0;
    text_printf(line, "  %s%*s", cut.data != NULL ? cut.data : "",
                (int)(width - used), "");
    text_free(&safe);
    text_free(&cut);
}

static void add_slot(struct page *page, const struct frame_slot *slot)
{
    char span[CLOCK_DURATION_BYTES];
    const struct frame *frame = page->frame;
    struct text *line = &page->line, curve = {0};
    int64_t elapsed = slot->start_ms > 0 ? frame->now_ms - slot->start_ms : 0;
    text_printf(line, "          %-5s %5s", slot->id, slot->step);
    if (isnan(slot->value))
        text_printf(line, " %10s", "-");
    else
        text_printf(line, " %10.4g", slot->value);
    cli_frame_curve(slot->curve, slot->n_curve, &curve);
    if (frame->width >= CURVE_WIDE)
        add_padded(line, curve.data != NULL ? curve.data : "", FRAME_CURVE);
    text_free(&curve);
    if (frame->width >= RUNNER_WIDE)
        add_padded(line, slot->runner, RUNNER);
    if (frame->width >= TIME_WIDE)
        text_printf(line, "  %-6s", span_text(elapsed, span));
    const char *params = slot->params != NULL ? slot->params : "";
    size_t whole = table_width(line->data) + 2 + table_width(params);
    if (whole >= frame->width && slot->brief != NULL)
        params = slot->brief;
    if (slot->starting && slot->words[0] != '\0')
        params = slot->words;
    text_printf(line, "  %s", params);
    end_line(page, false);
}

static void add_running(struct page *page)
{
    const struct frame *frame = page->frame;
    size_t room = frame->height > FIXED_LINES ? frame->height - FIXED_LINES : 1;
    if (frame->n_slots == 0)
        return;
    if (frame->height > FIXED_LINES)
        end_line(page, false);
    add_titles(page);
    for (size_t i = 0; i < frame->n_slots && i < room; i++)
        add_slot(page, &frame->running[i]);
}

static void add_last(struct page *page)
{
    const struct frame *frame = page->frame;
    if (frame->last[0][0] == '\0')
        return;
    text_puts(&page->line, "LAST      ");
    for (size_t i = 0; i < FRAME_LAST && frame->last[i][0] != '\0'; i++) {
        text_puts(&page->line, i > 0 ? "   " : "");
        text_puts(&page->line, frame->last[i]);
    }
    end_line(page, false);
}

size_t cli_frame_print(const struct frame *frame, const struct cli_study *study,
                       struct text *out)
{
    struct page page = {.frame = frame, .study = study, .out = out};
    add_head(&page);
    add_progress(&page);
    add_best(&page);
    add_running(&page);
    add_last(&page);
    if (frame->away) {
        text_puts(&page.line, " server away, trying again   [q]uit");
        end_line(&page, true);
    } else if (!cli_study_is_over(study->state)) {
        text_puts(&page.line,
                  frame->width > 64
                      ? " [p]ause  [s]top  [l]ogs  [b]est  [q]uit (the study "
                        "goes on)"
                      : " [p]ause [s]top [l]ogs [b]est [q]uit");
        end_line(&page, false);
    }
    if (frame->note != NULL && frame->note[0] != '\0') {
        text_escape(&page.line, frame->note);
        end_line(&page, false);
    }
    text_free(&page.line);
    return page.lines;
}
