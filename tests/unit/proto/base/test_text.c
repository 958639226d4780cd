#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "tests/check.h"

static void text_grows_piece_by_piece(void)
{
    struct text text = {0};
    for (int i = 0; i < 1000; i++)
        text_printf(&text, "%03d,", i);
    CHECK(text.len == 4000);
    CHECK(strncmp(text.data, "000,001,", 8) == 0);
    CHECK_TEXT(text.data + 3996, "999,");
    text_clear(&text);
    CHECK(text.len == 0);
    text_append(&text, "a\0b", 3);
    CHECK(text.len == 3 && memcmp(text.data, "a\0b", 4) == 0);
    text_free(&text);
    CHECK(text.data == NULL && text.len == 0);
}

static void appending_nothing_still_makes_a_string(void)
{
    struct text text = {0};
    text_puts(&text, "");
    CHECK_TEXT(text.data, "");
    text_free(&text);
}

static void doubles_are_short_where_they_can_be(void)
{
    char b[TEXT_DOUBLE_BYTES];
    CHECK_TEXT(text_of_double(b, 0.1), "0.1");
    CHECK_TEXT(text_of_double(b, 1e-5), "1e-05");
    CHECK_TEXT(text_of_double(b, 0.1 + 0.2), "0.30000000000000004");
    CHECK_TEXT(text_of_double(b, -0.0), "-0");
    CHECK_TEXT(text_of_double(b, (double)NAN), "NaN");
    CHECK_TEXT(text_of_double(b, (double)INFINITY), "Infinity");
    CHECK_TEXT(text_of_double(b, -(double)INFINITY), "-Infinity");
}

static void every_double_reads_back_to_the_same_bits(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value, back;
        memcpy(&value, &state, sizeof value);
        if (!isfinite(value))
            continue;
        char buffer[TEXT_DOUBLE_BYTES];
        back = strtod(text_of_double(buffer, value), NULL);
        CHECK(memcmp(&back, &value, sizeof back) == 0);
    }
    struct text text = {0};
    text_double(&text, DBL_MIN / 4);
    CHECK(strtod(text.data, NULL) == DBL_MIN / 4);
    text_free(&text);
}

static void escaped(const char *raw, const char *want)
{
    struct text text = {0};
    text_puts(&text, "");
    text_escape(&text, raw);
    CHECK_TEXT(text.data, want);
    text_free(&text);
}

static void foreign_text_cannot_steer_a_terminal(void)
{
    escaped("\x1b[31mred\x07", "\\x1b[31mred\\x07");
    escaped("a\nb\x7f", "a\\x0a"
                        "b\\x7f");
    escaped("\xC2\x9B"
            "31m",
            "\\u009b31m");
    escaped("\xE2\x80\xAE"
            "abc\xE2\x81\xA6",
            "\\u202eabc\\u2066");
    escaped("\xD8\x9C", "\\u061c");
}

static void bytes_outside_utf8_are_shown_as_numbers(void)
{
    escaped("a\xFF"
            "b",
            "a\\xff"
            "b");
    escaped("\xE2\x80", "\\xe2\\x80");
    escaped("\xC0\xAF", "\\xc0\\xaf");
}

static void ordinary_text_passes_unchanged(void)
{
    escaped("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \\ \"",
            "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \\ \"");
}

static void quoted_for_shell(const char *word, const char *want)
{
    struct text text = {0};
    text_shell_word(&text, word);
    CHECK_TEXT(text.data, want);
    text_free(&text);
}

static void shell_words_are_quoted_only_when_they_must_be(void)
{
    quoted_for_shell("--lr=0.1", "--lr=0.1");
    quoted_for_shell("", "''");
    quoted_for_shell("two words", "'two words'");
    quoted_for_shell("$(rm -rf)", "'$(rm -rf)'");
    quoted_for_shell("it's", "'it'\\''s'");
    quoted_for_shell("~", "'~'");
}

static void text_moves_into_an_arena(void)
{
    struct arena *arena = arena_new();
    struct text text = {0};
    CHECK_TEXT(text_string(&text), "");
    CHECK_TEXT(text_take(&text, arena), "");
    text_escape(&text, "a\033b");
    CHECK_TEXT(text_take(&text, arena), "a\\x1bb");
    CHECK(text.data == NULL && text.len == 0);
    arena_free(arena);
}

int main(void)
{
    RUN(text_grows_piece_by_piece);
    RUN(appending_nothing_still_makes_a_string);
    RUN(doubles_are_short_where_they_can_be);
    RUN(every_double_reads_back_to_the_same_bits);
    RUN(foreign_text_cannot_steer_a_terminal);
    RUN(bytes_outside_utf8_are_shown_as_numbers);
    RUN(ordinary_text_passes_unchanged);
    RUN(shell_words_are_quoted_only_when_they_must_be);
    RUN(text_moves_into_an_arena);
    return check_done();
}
