#include <stdlib.h>

#include "proto/doc/diag.h"
#include "tests/check.h"

static struct arena *arena;

static struct diag diag; /* the list of the case that runs */

/* What it prints, in the arena. */
static const char *printed(void)
{
    struct text out = {0};
    text_puts(&out, "");
    diag_print(&diag, &out);
    const char *copy = arena_strdup(arena, out.data);
    text_free(&out);
    return copy;
}

static void begin(const char *source)
{
    diag_init(&diag, arena, "spec.yaml", source, source ? strlen(source) : 0);
}

static void an_item_shows_place_path_line_caret_and_hint(void)
{
    begin("spec: 1\nlr: {min: 1e-1, max: 1e-5}\n");
    diag_error(&diag, 2, 11, "parameters.lr.min", "is %s but max is %s", "1e-1",
               "1e-5");
    diag_hint(&diag, "must be smaller than %s", "max");
    CHECK_TEXT(printed(),
               "spec.yaml:2:11: error: parameters.lr.min: is 1e-1 but max is "
               "1e-5\n"
               "    2 | lr: {min: 1e-1, max: 1e-5}\n"
               "      |           ^~~~ must be smaller than max\n");
    CHECK(diag.errors == 1 && diag.warnings == 0);
}

static void the_caret_spans_the_word_or_the_quoted_text(void)
{
    begin("a: \"two words\", b");
    diag_error(&diag, 1, 4, "", "wrong");
    CHECK_TEXT(printed(), "spec.yaml:1:4: error: wrong\n"
                          "    1 | a: \"two words\", b\n"
                          "      |    ^~~~~~~~~~~\n");
    begin("a: {b");
    diag_error(&diag, 1, 4, NULL, "wrong");
    CHECK_TEXT(printed(), "spec.yaml:1:4: error: wrong\n"
                          "    1 | a: {b\n"
                          "      |    ^\n");
}

static void a_place_behind_the_end_still_has_a_caret(void)
{
    begin("ab");
    diag_error(&diag, 1, 3, NULL, "ends");
    diag_error(&diag, 9, 5, NULL, "far");
    CHECK_TEXT(printed(), "spec.yaml:1:3: error: ends\n"
                          "    1 | ab\n"
                          "      |   ^\n"
                          "spec.yaml:9:5: error: far\n"
                          "    9 | \n"
                          "      | ^\n");
}

static void columns_count_code_points_and_tabs_are_one_blank(void)
{
    begin("\xEF\xBB\xBF"
          "caf\xC3\xA9:\tx");
    diag_warning(&diag, 1, 7, NULL, "here");
    CHECK_TEXT(printed(), "spec.yaml:1:7: warning: here\n"
                          "    1 | caf\xC3\xA9: x\n"
                          "      |       ^\n");
}

static void foreign_bytes_are_escaped_and_the_caret_stays_under_them(void)
{
    static const char source[] = "\x1b[1m x\0y";
    diag_init(&diag, arena, "a\x1b", source, sizeof source - 1);
    diag_error(&diag, 1, 6, "p\x07", "bad \"%s\"", "\x1b]0;t");
    diag_hint(&diag, "not \x1b");
    CHECK_TEXT(printed(), "a\\x1b:1:6: error: p\\x07: bad \"\\x1b]0;t\"\n"
                          "    1 | \\x1b[1m x y\n"
                          "      |         ^ not \\x1b\n");
}

static void a_long_line_is_cut_around_the_caret(void)
{
    char source[1001];
    memset(source, 'x', sizeof source - 1);
    source[sizeof source - 1] = '\0';
    source[500] = ' ';
    source[501] = 'Y';
    source[502] = ' ';
    begin(source);
    diag_error(&diag, 1, 502, NULL, "here");
    char want[400], fifty[51];
    memset(fifty, 'x', 50);
    fifty[50] = '\0';
    snprintf(want, sizeof want,
             "spec.yaml:1:502: error: here\n"
             "    1 | ...%.49s Y %.48s...\n"
             "      |    %50s^\n",
             fifty, fifty, "");
    CHECK_TEXT(printed(), want);
}

static void items_come_in_order_of_place(void)
{
    begin(NULL);
    diag_error(&diag, 3, 1, NULL, "third");
    diag_warning(&diag, 1, 9, NULL, "second");
    diag_error(&diag, 1, 2, NULL, "first");
    diag_error(&diag, 0, 0, "name", "missing");
    diag_error(&diag, 3, 1, NULL, "fourth");
    CHECK_TEXT(printed(), "spec.yaml: error: name: missing\n"
                          "spec.yaml:1:2: error: first\n"
                          "spec.yaml:1:9: warning: second\n"
                          "spec.yaml:3:1: error: third\n"
                          "spec.yaml:3:1: error: fourth\n");
}

static void without_a_source_the_hint_stands_in_brackets(void)
{
    begin(NULL);
    diag_error(&diag, 21, 7, NULL, "unknown field \"maxTrial\"");
    diag_hint(&diag, "did you mean \"maxTrials\"?");
    CHECK_TEXT(printed(), "spec.yaml:21:7: error: unknown field \"maxTrial\" "
                          "(did you mean \"maxTrials\"?)\n");
    diag_init(&diag, arena, NULL, NULL, 0);
    diag_error(&diag, 0, 0, NULL, "alone");
    CHECK_TEXT(printed(), "error: alone\n");
}

static void a_hundred_items_are_kept_and_all_are_counted(void)
{
    begin(NULL);
    for (int i = 0; i < 150; i++) {
        diag_error(&diag, i + 1, 1, NULL, "n%d", i);
        diag_hint(&diag, "h%d", i);
    }
    diag_warning(&diag, 1, 1, NULL, "late");
    diag_hint(&diag, "late");
    CHECK(diag.errors == 150 && diag.warnings == 1);
    const char *text = printed();
    CHECK(strstr(text, "n99 (h99)\nand 51 more\n") != NULL);
    CHECK(strstr(text, "n100") == NULL && strstr(text, "late") == NULL);
}

static void a_hint_without_an_item_is_nothing(void)
{
    begin(NULL);
    diag_hint(&diag, "lost");
    CHECK_TEXT(printed(), "");
}

int main(void)
{
    arena = arena_new();
    RUN(an_item_shows_place_path_line_caret_and_hint);
    RUN(the_caret_spans_the_word_or_the_quoted_text);
    RUN(a_place_behind_the_end_still_has_a_caret);
    RUN(columns_count_code_points_and_tabs_are_one_blank);
    RUN(foreign_bytes_are_escaped_and_the_caret_stays_under_them);
    RUN(a_long_line_is_cut_around_the_caret);
    RUN(items_come_in_order_of_place);
    RUN(without_a_source_the_hint_stands_in_brackets);
    RUN(a_hundred_items_are_kept_and_all_are_counted);
    RUN(a_hint_without_an_item_is_nothing);
    arena_free(arena);
    return check_done();
}
