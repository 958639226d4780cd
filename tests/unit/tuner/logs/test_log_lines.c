/* Lines in chunks. */
#include "tuner/logs/log_lines.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "tests/check.h"

/* The lines that end in the data, each with '|' behind it, and what is open. */
static void shows(const char *data, size_t open, const char *wanted,
                  size_t wanted_open)
{
    struct log_lines lines = {.data = data, .len = strlen(data), .open = open};
    struct text all = {0};
    size_t at = 0, len;
    text_puts(&all, "");
    for (; log_lines_next(&lines, &len); at = lines.at) {
        text_append(&all, data + at, len);
        text_puts(&all, "|");
    }
    CHECK_TEXT(all.data, wanted);
    CHECK(lines.open == wanted_open);
    CHECK(log_lines_open(data, strlen(data), open) == wanted_open);
    text_free(&all);
}

static void a_line_belongs_to_the_chunk_of_its_line_feed(void)
{
    shows("", 0, "", 0);
    shows("", 5, "", 5);
    shows("one\n", 0, "one|", 0);
    shows("one\ntwo\nthr", 0, "one|two|", 3);
    shows("ee\n", 3, "ee|", 0);
    shows("ee", 3, "", 5);
    shows("\n\n", 0, "||", 0);
    shows("\n", LOG_LINE_MOST, "|", 0);
}

/* Cuts `len` bytes of `unit` and counts the lines; the longest is *most. */
static size_t cut(const char *unit, size_t len, size_t open, size_t *most)
{
    const size_t n = strlen(unit);
    char *data = malloc(len + n);
    size_t filled = 0, count = 0, line;
    for (; filled + n <= len; filled += n)
        memcpy(data + filled, unit, n);
    struct log_lines lines = {.data = data, .len = filled, .open = open};
    *most = 0;
    for (; log_lines_next(&lines, &line); open = 0, count++)
        *most = open + line > *most ? open + line : *most;
    CHECK(lines.open <= LOG_LINE_MOST);
    free(data);
    return count;
}

static void a_line_without_an_end_is_cut(void)
{
    size_t most;
    CHECK(cut("x", LOG_LINE_MOST, 0, &most) == 0);
    CHECK(cut("x", LOG_LINE_MOST + 1, 0, &most) == 1);
    CHECK(most == LOG_LINE_MOST);
    CHECK(cut("x", 3 * LOG_LINE_MOST + 1, 0, &most) == 3);
    CHECK(most == LOG_LINE_MOST);
    CHECK(cut("x", 10, LOG_LINE_MOST - 9, &most) == 1);
    CHECK(most == LOG_LINE_MOST);
    CHECK(cut("x", 10, LOG_LINE_MOST, &most) == 1);
    CHECK(cut("x", 10, LOG_LINE_MOST - 10, &most) == 0);
}

static void characters_are_not_cut(void)
{
    size_t most;
    CHECK(cut("\xE2\x82\xAC", LOG_LINE_MOST + 3, 0, &most) == 1);
    CHECK(most == LOG_LINE_MOST / 3 * 3);
    CHECK(cut("\xE2\x82\xAC", 3, LOG_LINE_MOST - 1, &most) == 1);
    CHECK(most == LOG_LINE_MOST - 1);
}

static void where_chunks_end_does_not_matter(void)
{
    enum { BYTES = 200000 };
    char *data = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = i % 70001 == 70000 ? '\n' : 'x';
    size_t whole = 0, pieces = 0, len;
    struct log_lines all = {.data = data, .len = BYTES};
    while (log_lines_next(&all, &len))
        whole++;
    for (size_t step = 1; step < BYTES; step = step * 7 + 3) {
        size_t open = 0;
        pieces = 0;
        for (size_t at = 0; at < BYTES; at += step) {
            const size_t n = at + step < BYTES ? step : BYTES - at;
            struct log_lines part = {.data = data + at, .len = n, .open = open};
            while (log_lines_next(&part, &len))
                pieces++;
            open = part.open;
        }
        CHECK(pieces == whole && open == all.open);
    }
    free(data);
}

int main(void)
{
    RUN(a_line_belongs_to_the_chunk_of_its_line_feed);
    RUN(a_line_without_an_end_is_cut);
    RUN(characters_are_not_cut);
    RUN(where_chunks_end_does_not_matter);
    return check_done();
}
