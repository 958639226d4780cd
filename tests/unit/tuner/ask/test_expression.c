/* Regular expressions that people send. */
#include "tuner/ask/expression.h"

#include <string.h>

#include "proto/base/text.h"
#include "tests/check.h"

/* '+' found, '-' not found, '!' refused */
static char judge(const char *pattern, const char *text)
{
    struct arena *arena = arena_new();
    struct expression *expression;
    char verdict = '!';
    if (expression_read(arena, pattern, &expression, NULL) == HT_OK)
        verdict = expression_is_found(expression, text) ? '+' : '-';
    arena_free(arena);
    return verdict;
}

static bool finds(const char *pattern, const char *text)
{
    return judge(pattern, text) == '+';
}

static bool misses(const char *pattern, const char *text)
{
    return judge(pattern, text) == '-';
}

static void a_part_is_found_anywhere(void)
{
    CHECK(finds("", "") && finds("", "abc"));
    CHECK(finds("b", "abc") && misses("d", "abc"));
    CHECK(finds("bc$", "abc") && misses("ab$", "abc"));
    CHECK(finds("^ab", "abc") && misses("^bc", "abc"));
    CHECK(finds("^$", "") && misses("^$", "a"));
    CHECK(finds("a^|c", "c") && misses("a^", "a^"));
}

static void the_usual_words_are_known(void)
{
    CHECK(finds("^(ab|cd|e)+$", "abecdab") && misses("^(ab|cd|e)+$", "abec"));
    CHECK(finds("^\\d{2,3}\\.\\d$", "10.5") && misses("^\\d+\\.\\d$", "10x5"));
    CHECK(finds("\\bstep\\b", "a step 3") && misses("\\bstep\\b", "steps"));
    CHECK(misses("nan", "NaN") && finds("(?i)nan", "NaN"));
    CHECK(finds("[[:space:]][^[:alpha:]]", "a 1"));
}

static void a_dot_is_a_whole_character(void)
{
    CHECK(finds("^.$", "\xC3\xA9") && finds("^.$", "\xE2\x82\xAC"));
    CHECK(misses("^..$", "\xC3\xA9") && finds("^[^a]$", "\xC3\xA9"));
}

/* As where a long line was cut within a character. */
static void bytes_that_are_no_text_are_searched_around(void)
{
    CHECK(finds("loss", "\x80loss\xC3") && misses("x", "\xC3"));
}

static void what_is_wrong_is_refused(void)
{
    static const char *const wrong[] = {"(",      ")",  "*",   "[a",
                                        "a{2,1}", "\\", "\\C", "(?<n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(judge(wrong[i], "a") == '!');
    struct text text = {0};
    for (int i = 0; i < EXPRESSION_MOST; i++)
        text_puts(&text, ".");
    CHECK(misses(text.data, "a"));
    text_puts(&text, ".");
    CHECK(judge(text.data, "a") == '!');
    text_clear(&text);
    for (int i = 0; i < 33; i++)
        text_puts(&text, "(a");
    for (int i = 0; i < 33; i++)
        text_puts(&text, ")");
    CHECK(judge(text.data, "a") == '!');
    text_free(&text);
}

/* What would take years is given up, and says so; what does not is not. */
static void an_endless_search_is_given_up(void)
{
    static const char *const slow[] = {"^(a+)+$", "^((((a+)+)+)+)+$",
                                       "(a|aa)+$"};
    struct arena *arena = arena_new();
    struct expression *expression;
    struct text text = {0};
    for (int i = 0; i < 20000; i++)
        text_puts(&text, "a");
    text_puts(&text, "!");
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        CHECK(expression_read(arena, slow[i], &expression, NULL) == HT_OK);
        CHECK(!expression_is_found(expression, "aab"));
        CHECK(!expression_gave_up(expression));
        CHECK(!expression_is_found(expression, text.data));
        CHECK(expression_gave_up(expression));
    }
    text_free(&text);
    arena_free(arena);
}

int main(void)
{
    RUN(a_part_is_found_anywhere);
    RUN(the_usual_words_are_known);
    RUN(a_dot_is_a_whole_character);
    RUN(bytes_that_are_no_text_are_searched_around);
    RUN(what_is_wrong_is_refused);
    RUN(an_endless_search_is_given_up);
    return check_done();
}
