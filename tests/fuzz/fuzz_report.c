/* Any bytes as a line of reports.jsonl and of cloudml-hypertune's file: what
 * is read is within its limits, and our own form reads back to itself. And as a
 * pattern, a newline and a printed line; also words for command_split. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/command.h"
#include "proto/job/pattern.h"
#include "proto/job/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_limits(const struct report *report)
{
    if (report->seq < 1 || report->n_metrics < 1 ||
        report->n_metrics > HT_MAX_METRICS ||
        strlen(report->checkpoint) > HT_MAX_CHECKPOINT)
        abort();
    for (size_t i = 0; i < report->n_metrics; i++)
        if (report->metrics[i].name[0] == '\0' ||
            strlen(report->metrics[i].name) > HT_MAX_NAME)
            abort();
}

/* Escapes may make the text longer than a line may be; then it is refused. */
static void check_text(struct arena *arena, const struct report *report)
{
    struct text text = {0}, again = {0};
    struct report back;
    report_text(report, &text);
    if (report_parse(arena, text.data, text.len, &back, NULL) == HT_OK) {
        report_text(&back, &again);
        if (strcmp(text.data, again.data) != 0)
            abort();
    } else if (text.len <= HT_MAX_REPORT_LINE) {
        abort();
    }
    text_free(&text);
    text_free(&again);
}

static void check_match(struct arena *arena, const char *text, const char *line,
                        size_t len)
{
    struct pattern *pattern;
    struct report report = {0};
    size_t n;
    if (pattern_compile(arena, text, &pattern, NULL) != HT_OK)
        return;
    pattern_names(pattern, &n);
    if (n < 1 || n > HT_MAX_METRICS)
        abort();
    if (pattern_match(arena, pattern, line, len, &report) &&
        (report.n_metrics != n || report.metrics == NULL))
        abort();
}

static void check_split(struct arena *arena, const char *text)
{
    struct strings words;
    if (command_split(arena, text, &words, NULL) == HT_OK && words.n == 0)
        abort();
}

static void read_pattern(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const char *bytes = (const char *)data;
    const char *newline = size > 0 ? memchr(bytes, '\n', size) : NULL;
    size_t first = newline ? (size_t)(newline - bytes) : size;
    size_t rest = newline ? size - first - 1 : 0;
    char *text = strndup(bytes, first);
    char *line = malloc(rest > 0 ? rest : 1); /* exact: overreads are seen */
    if (rest > 0)
        memcpy(line, newline + 1, rest);
    check_match(arena, text, line, rest);
    check_split(arena, text);
    free(text);
    free(line);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"accuracy", "trial", "a"};
    struct arena *arena = arena_new();
    struct report report;
    char *line = malloc(size > 0 ? size : 1); /* exact: overreads are seen */
    memcpy(line, data, size);
    if (report_parse(arena, line, size, &report, NULL) == HT_OK) {
        check_limits(&report);
        check_text(arena, &report);
    }
    if (report_parse_foreign(arena, line, size, 3, names, &report, NULL) ==
        HT_OK) {
        check_limits(&report);
        check_text(arena, &report);
    }
    free(line);
    arena_free(arena);
    read_pattern(data, size);
    return 0;
}
