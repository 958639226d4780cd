#include "hypertune/cli/frame/shell.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "tests/check.h"

static struct arena *arena;

static const char *shown(const struct shell_change *change,
                         enum shell_syntax syntax)
{
    struct text out = {0};
    shell_print(change, syntax, &out);
    const char *text = arena_strdup(arena, out.data ? out.data : "");
    text_free(&out);
    return text;
}

static struct shell_change some_change(void)
{
    struct shell_change change = {0};
    shell_set(&change, "PLAIN", "a/b");
    shell_set(&change, "ODD", "it's $(x)\\");
    shell_set(&change, "EMPTY", "");
    shell_set(&change, "GONE", NULL);
    return change;
}

static void values_are_quoted_for_each_shell(void)
{
    arena = arena_new();
    struct shell_change change = some_change();
    CHECK_TEXT(shown(&change, SHELL_POSIX), "export PLAIN=a/b;\n"
                                            "export ODD='it'\\''s $(x)\\';\n"
                                            "export EMPTY='';\n"
                                            "unset GONE;\n");
    CHECK_TEXT(shown(&change, SHELL_FISH), "set -gx PLAIN 'a/b';\n"
                                           "set -gx ODD 'it\\'s $(x)\\\\';\n"
                                           "set -gx EMPTY '';\n"
                                           "set -e GONE;\n");
    arena_free(arena);
}

static void the_newest_value_of_a_name_counts(void)
{
    struct shell_change change = some_change();
    shell_set(&change, "PLAIN", NULL);
    shell_set(&change, "GONE", "back");
    CHECK(change.n == 4);
    CHECK(shell_find(&change, "PLAIN")->value == NULL);
    CHECK_TEXT(shell_find(&change, "GONE")->value, "back");
    CHECK(shell_find(&change, "OTHER") == NULL);
}

static void what_no_shell_takes_for_a_name_is_left_out(void)
{
    static const char *const wrong[] = {"", "1A", "A-B", "A;rm", "A=B", "A B"};
    struct shell_change change = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        shell_set(&change, wrong[i], "x");
    CHECK(change.n == 0);
}

static void what_lies_beyond_the_room_is_left_out(void)
{
    arena = arena_new();
    struct shell_change change = {0};
    for (int i = 0; i < SHELL_MAX_VARIABLES + 2; i++)
        shell_set(&change, arena_printf(arena, "V%d", i), "x");
    CHECK(change.n == SHELL_MAX_VARIABLES);
    shell_set(&change, "V0", "again");
    CHECK_TEXT(change.items[0].value, "again");
    arena_free(arena);
}

static void a_record_is_read_as_it_was_written(void)
{
    arena = arena_new();
    struct shell_change change = some_change(), again;
    struct text record = {0};
    shell_print_record(&change, &record);
    CHECK_TEXT(record.data, "{\"PLAIN\":\"a/b\",\"ODD\":\"it's $(x)\\\\\","
                            "\"EMPTY\":\"\",\"GONE\":null}");
    shell_read_record(arena, record.data, &again);
    CHECK_TEXT(shown(&again, SHELL_POSIX), shown(&change, SHELL_POSIX));
    text_free(&record);
    arena_free(arena);
}

static void what_is_no_record_changes_nothing(void)
{
    static const char *const wrong[] = {"", "no JSON", "[1]", "{\"A\":1}",
                                        "{\"A;reboot\":\"x\"}"};
    arena = arena_new();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct shell_change change = some_change();
        shell_read_record(arena, wrong[i], &change);
        CHECK(change.n == 0);
    }
    arena_free(arena);
}

static void an_empty_variable_is_there(void)
{
    static char first[] = "AB=1", second[] = "A=", third[] = "A=2";
    char *const environment[] = {first, second, third, NULL};
    CHECK_TEXT(shell_value(environment, "A"), "");
    CHECK_TEXT(shell_value(environment, "AB"), "1");
    CHECK(shell_value(environment, "B") == NULL);
}

int main(void)
{
    json_init();
    RUN(values_are_quoted_for_each_shell);
    RUN(the_newest_value_of_a_name_counts);
    RUN(what_no_shell_takes_for_a_name_is_left_out);
    RUN(what_lies_beyond_the_room_is_left_out);
    RUN(a_record_is_read_as_it_was_written);
    RUN(what_is_no_record_changes_nothing);
    RUN(an_empty_variable_is_there);
    return check_done();
}
