/* A pattern, a newline, and a printed line; also words for command_split. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/command.h"
#include "proto/job/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
    return 0;
}
