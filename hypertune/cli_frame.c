#include "hypertune/cli_frame.h"

#include <math.h>
#include <string.h>

#include "hypertune/cli_table.h"
#include "proto/clock.h"

enum {
    BAR = 30,
    RUNNER = 16, /* columns of a runner's name */
    WIDE = 110,  /* columns from which it is shown */
    FIXED_LINES = 9
};

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

void cli_frame_bar(int64_t done, int64_t all, size_t width, struct text *out)
{
    size_t filled = 0;
    if (all > 0 && done > 0)
        filled = (size_t)((double)(done < all ? done : all) / (double)all *
                          (double)width);
    for (size_t i = 0; i < width; i++)
        text_puts(out, i < filled ? "#" : ".");
}

/* One line, foreign bytes already escaped, cut to the terminal. */
static void add_line(const struct frame *frame, struct text *line, bool strong,
                     struct text *out, size_t *lines)
{
    text_puts(out, strong && frame->color ? "\033[1m" : "");
    table_cut(out, line->data != NULL ? line->data : "",
              frame->width > 1 ? frame->width - 1 : 1);
    text_puts(out, strong && frame->color ? "\033[0m\n" : "\n");
    text_clear(line);
    ++*lines;
}

static void add_times(const struct frame *frame, const struct cli_study *study,
                      struct text *line)
{
    char span[CLOCK_DURATION_BYTES];
    int64_t start = node_get_int(study->status, "startTimeMs", 0);
    int64_t end = node_get_int(study->status, "endTimeMs", frame->now_ms);
    int64_t elapsed =
        start > 0 && end > start ? (end - start) / 1000 * 1000 : 0;
    int64_t ended = cli_study_ended(study);
    int64_t all = node_get_int(study->job, "maxTrialCount", 1);
    text_printf(line, "%s elapsed", clock_duration(span, elapsed));
    if (ended >= 2 && all > ended && !cli_study_is_over(study->state)) {
        double left = (double)elapsed / (double)ended * (double)(all - ended);
        text_printf(line, ", about %s left",
                    clock_duration(span, (int64_t)(left / 1000) * 1000));
    }
}

static void add_head(const struct frame *frame, const struct cli_study *study,
                     struct text *line, struct text *out, size_t *lines)
{
    int64_t all = node_get_int(study->job, "maxTrialCount", 1);
    text_escape(line, study->name);
    text_printf(line, "  %s  %s ", study->state,
                study->maximize ? "maximize" : "minimize");
    text_escape(line, study->metric);
    text_puts(line, "        ");
    add_times(frame, study, line);
    add_line(frame, line, true, out, lines);
    text_puts(line, "trials ");
    cli_frame_bar(cli_study_ended(study), all, BAR, line);
    text_printf(line, "  %lld/%lld   %lld running   %lld failed   %lld stopped",
                cli_study_ended(study), (long long)all,
                cli_study_count(study, "active"),
                cli_study_count(study, "failed") +
                    cli_study_count(study, "infeasible"),
                cli_study_count(study, "stopped"));
    add_line(frame, line, false, out, lines);
}

static void add_best(const struct frame *frame, const struct cli_study *study,
                     struct text *line, struct text *out, size_t *lines)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *best = node_find(study->status, "best");
    if (best == NULL) {
        text_puts(line, "best   none yet");
        add_line(frame, line, false, out, lines);
        return;
    }
    int64_t end =
        node_get_int(node_find(best, "hypertune"), "endTimeMs", frame->now_ms);
    int64_t ago = frame->now_ms > end ? (frame->now_ms - end) / 1000 * 1000 : 0;
    text_puts(line, "best   ");
    cli_trial_objective(best, line);
    text_printf(line, "  trial %s, %s ago", cli_trial_id(best),
                clock_duration(span, ago));
    add_line(frame, line, true, out, lines);
    text_puts(line, "       ");
    cli_trial_args(best, line);
    add_line(frame, line, false, out, lines);
}

static void add_slot(const struct frame *frame, const struct frame_slot *slot,
                     struct text *line)
{
    char span[CLOCK_DURATION_BYTES];
    struct text curve = {0};
    int64_t elapsed = slot->start_ms > 0 && frame->now_ms > slot->start_ms
                          ? (frame->now_ms - slot->start_ms) / 1000 * 1000
                          : 0;
    cli_frame_curve(slot->curve, slot->n_curve, &curve);
    text_printf(line, "        %-5s %6s", slot->id, slot->step);
    if (isnan(slot->value))
        text_printf(line, " %10s", "-");
    else
        text_printf(line, " %10.4g", slot->value);
    text_printf(line, "  %-*s  %-6s  ", FRAME_CURVE,
                curve.data ? curve.data : "", clock_duration(span, elapsed));
    if (frame->width >= WIDE) {
        text_escape(line, slot->runner);
        int pad = RUNNER - (int)table_width(slot->runner);
        text_printf(line, "%*s  ", pad > 0 ? pad : 0, "");
    }
    text_puts(line, slot->params ? slot->params : "");
    text_free(&curve);
}

static void add_running(const struct frame *frame, struct text *line,
                        struct text *out, size_t *lines)
{
    size_t room = frame->height > FIXED_LINES ? frame->height - FIXED_LINES : 1;
    if (frame->n_slots == 0)
        return;
    text_printf(line, "RUNNING %-5s %6s %10s  %-*s  %-6s  ", "ID", "STEP",
                "VALUE", FRAME_CURVE, "CURVE", "TIME");
    if (frame->width >= WIDE)
        text_printf(line, "%-*s  ", RUNNER, "RUNNER");
    text_puts(line, "parameters");
    add_line(frame, line, false, out, lines);
    for (size_t i = 0; i < frame->n_slots && i < room; i++) {
        add_slot(frame, &frame->slots[i], line);
        add_line(frame, line, false, out, lines);
    }
}

static void add_last(const struct frame *frame, struct text *line,
                     struct text *out, size_t *lines)
{
    if (frame->last[0][0] == '\0')
        return;
    text_puts(line, "LAST    ");
    for (size_t i = 0; i < FRAME_LAST && frame->last[i][0] != '\0'; i++) {
        text_puts(line, i > 0 ? "   " : "");
        text_puts(line, frame->last[i]);
    }
    add_line(frame, line, false, out, lines);
}

size_t cli_frame_print(const struct frame *frame, const struct cli_study *study,
                       struct text *out)
{
    size_t lines = 0;
    struct text line = {0};
    add_head(frame, study, &line, out, &lines);
    add_best(frame, study, &line, out, &lines);
    add_running(frame, &line, out, &lines);
    add_last(frame, &line, out, &lines);
    if (!cli_study_is_over(study->state)) {
        text_puts(&line,
                  " [p]ause  [s]top  [l]ogs  [b]est  [q]uit (the study goes "
                  "on)");
        add_line(frame, &line, false, out, &lines);
    }
    if (frame->note != NULL && frame->note[0] != '\0') {
        text_escape(&line, frame->note);
        add_line(frame, &line, false, out, &lines);
    }
    text_free(&line);
    return lines;
}
