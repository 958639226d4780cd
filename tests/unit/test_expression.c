/* Regular expressions that people send. */
#include "tuner/expression.h"

#include <regex.h>
#include <stdint.h>
#include <string.h>

#include "proto/clock.h"
#include "proto/text.h"
#include "tests/check.h"

/* '+' found, '-' not found, '!' refused */
static char judge(const char *pattern, const char *text)
{
    struct arena *arena = arena_new();
    const struct expression *expression;
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

static void repetitions_and_choices(void)
{
    CHECK(finds("^ab*c$", "ac") && finds("^ab*c$", "abbbc"));
    CHECK(misses("^ab+c$", "ac") && finds("^ab+c$", "abbc"));
    CHECK(finds("^ab?c$", "abc") && misses("^ab?c$", "abbc"));
    CHECK(finds("^(ab|cd|e)+$", "abecdab") && misses("^(ab|cd|e)+$", "abec"));
    CHECK(finds("^(?:a|)b$", "b") && finds("^(a||c)$", "c"));
    CHECK(finds("^((a*)*|b)*$", "aabba"));
    CHECK(finds("^(a+b?)+$", "aabab") && misses("^(a+b?)+$", "aabb"));
}

static void sets_and_classes(void)
{
    CHECK(finds("^[a-c]+$", "abc") && misses("[a-c]", "xyz"));
    CHECK(finds("[^a-c]", "abcd") && misses("[^a-c]", "abc"));
    CHECK(finds("^[]x]+$", "]x]") && finds("^[^]]$", "x"));
    CHECK(finds("^[a-]+$", "a-a") && finds("^[\\]\\\\]+$", "\\]"));
    CHECK(finds("^[[:alpha:]_\\d]+$", "az_09") && misses("[[:space:]]", "ab"));
    CHECK(finds("^\\d+\\.\\d$", "10.5") && misses("^\\d+\\.\\d$", "10x5"));
    CHECK(finds("^\\S+\\s\\w+$", "a=1 b") && misses("\\W", "word_1"));
    CHECK(finds("\\bstep\\b", "a step 3") && misses("\\bstep\\b", "steps"));
    CHECK(finds("a\\Bb", "ab") && misses("a\\B", "a b"));
    CHECK(finds("\\{\\}\\*\\[", "{}*["));
}

static void case_is_left_out_when_asked(void)
{
    CHECK(misses("nan", "NaN") && finds("(?i)nan", "NaN"));
    CHECK(finds("(?i)^[A-C]+$", "aBc") && misses("(?i)^[^a]$", "A"));
    CHECK(judge("a(?i)b", "ab") == '!');
}

static void a_dot_is_a_whole_character(void)
{
    CHECK(finds("^.$", "\xC3\xA9") && finds("^.$", "\xE2\x82\xAC"));
    CHECK(misses("^..$", "\xC3\xA9") && finds("^[^a]$", "\xC3\xA9"));
    CHECK(finds("\xC3\xA9+$", "caf\xC3\xA9"));
}

static void what_is_wrong_is_refused(void)
{
    static const char *const wrong[] = {
        "(",       ")",  "a)",   "(a",        "*",     "+a",      "a**",
        "a+?",     "[a", "[]",   "[^]",       "[b-a]", "[[:x:]]", "[\\b]",
        "a{2}",    "{",  "\\",   "\\1",       "\\x",   "(?=a)",   "(?i",
        "[a-\\d]", "|*", "^*x(", "[\xC3\xA9]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (judge(wrong[i], "a") != '!')
            printf("# accepted: %s\n", wrong[i]);
        CHECK(judge(wrong[i], "a") == '!');
    }
    struct text text = {0};
    for (int i = 0; i < EXPRESSION_MOST; i++)
        text_puts(&text, ".");
    CHECK(misses(text.data, "a"));
    text_puts(&text, ".");
    CHECK(judge(text.data, "a") == '!');
    text_clear(&text);
    for (int i = 0; i < 100; i++)
        text_puts(&text, "(");
    CHECK(judge(text.data, "a") == '!');
    text_free(&text);
}

/* What makes others take for ever: the time depends on the lengths alone. */
static void no_expression_takes_long(void)
{
    static const char *const slow[] = {"^(a+)+$", "(a*)*b", "(a|a)*c",
                                       "^((((a+)+)+)+)+$", "(.*)(.*)(.*)x"};
    struct text text = {0};
    for (int i = 0; i < 20000; i++)
        text_puts(&text, "a");
    text_puts(&text, "!");
    const int64_t begin = clock_monotonic_ms();
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        CHECK(misses(slow[i], text.data));
    CHECK(clock_monotonic_ms() - begin < 10000);
    text_free(&text);
}

/* --- against the C library's --- */

/* A number below `below` that the seed determines. */
static size_t draw(uint64_t *seed, size_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*seed >> 33) % below;
}

static void draw_pattern(uint64_t *seed, struct text *out, int depth)
{
    static const char *const atoms[] = {"a", "b", ".", "[ab]", "[^a]", "[b-c]"};
    static const char *const repeats[] = {"", "", "*", "+", "?"};
    const size_t parts = 1 + draw(seed, 3);
    for (size_t i = 0; i < parts; i++) {
        if (depth > 0 && draw(seed, 3) == 0) {
            text_puts(out, "(");
            draw_pattern(seed, out, depth - 1);
            text_puts(out, "|");
            draw_pattern(seed, out, depth - 1);
            text_puts(out, ")");
        } else {
            text_puts(out, atoms[draw(seed, sizeof atoms / sizeof *atoms)]);
        }
        text_puts(out, repeats[draw(seed, sizeof repeats / sizeof *repeats)]);
    }
}

static void drawn_ones_find_what_the_c_library_finds(void)
{
    uint64_t seed = 1;
    struct text pattern = {0};
    for (int round = 0; round < 3000; round++) {
        char text[9] = "";
        regex_t wanted;
        text_clear(&pattern);
        text_puts(&pattern, draw(&seed, 2) == 0 ? "^" : "");
        draw_pattern(&seed, &pattern, 2);
        text_puts(&pattern, draw(&seed, 2) == 0 ? "$" : "");
        for (size_t i = 0, n = draw(&seed, 9); i < n; i++)
            text[i] = "abc"[draw(&seed, 3)];
        if (pattern.len > EXPRESSION_MOST ||
            regcomp(&wanted, pattern.data, REG_EXTENDED | REG_NOSUB) != 0)
            continue;
        const char verdict = "-+"[regexec(&wanted, text, 0, NULL, 0) == 0];
        regfree(&wanted);
        if (judge(pattern.data, text) != verdict)
            printf("# %s in %s\n", pattern.data, text);
        CHECK(judge(pattern.data, text) == verdict);
    }
    text_free(&pattern);
}

int main(void)
{
    RUN(a_part_is_found_anywhere);
    RUN(repetitions_and_choices);
    RUN(sets_and_classes);
    RUN(case_is_left_out_when_asked);
    RUN(a_dot_is_a_whole_character);
    RUN(what_is_wrong_is_refused);
    RUN(no_expression_takes_long);
    RUN(drawn_ones_find_what_the_c_library_finds);
    return check_done();
}
