#include "hypertune/cli/frame/table.h"

#include <locale.h>

#include "tests/check.h"

static struct table *two_columns(struct arena *arena, const char *name,
                                 const char *value)
{
    struct table *table = table_new(arena);
    table_column(table, "NAME", ALIGN_LEFT);
    table_column(table, "VALUE", ALIGN_RIGHT);
    table_row(table);
    table_cell(table, name);
    table_cell(table, value);
    return table;
}

static void columns_are_aligned(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct table *table = two_columns(arena, "a", "1.5");
    table_row(table);
    table_cell(table, "longer");
    table_cell_printf(table, "%d", 12345678);
    table_row(table);
    table_cell(table, "short row");
    table_print(table, 0, &out);
    CHECK_TEXT(out.data, "NAME          VALUE\n"
                         "a               1.5\n"
                         "longer     12345678\n"
                         "short row\n");
    CHECK(table_rows(table) == 3);
    text_free(&out);
    arena_free(arena);
}

static void wide_cells_are_cut_to_the_terminal(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    table_print(two_columns(arena, "a very long name indeed", "1"), 16, &out);
    CHECK_TEXT(out.data, "NAME       VALUE\n"
                         "a very l~      1\n");
    text_free(&out);
    arena_free(arena);
}

static void a_cell_whose_tail_tells_most_is_cut_at_its_head(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct table *table = table_new(arena);
    table_column(table, "TRIAL", ALIGN_TAIL);
    table_column(table, "N", ALIGN_RIGHT);
    static const char *const names[] = {"a-very-long-name/12", "abcdefg/9",
                                        "\xc3\xa4\xc3\xb6\xc3\xbc-long/1"};
    for (size_t i = 0; i < 3; i++) {
        table_row(table);
        table_cell(table, names[i]);
        table_cell(table, "1");
    }
    table_print(table, 12, &out);
    CHECK_TEXT(out.data, "TRIAL      N\n"
                         "~-name/12  1\n"
                         "abcdefg/9  1\n"
                         "~\xc3\xbc-long/1  1\n");
    text_free(&out);
    arena_free(arena);
}

static void an_optional_column_is_there_with_something_in_it(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct table *table = table_new(arena);
    table_columns(table, "NAME,TAGS,AGE");
    table_optional(table, "TAGS");
    table_row(table);
    table_cells(table, "a", "", "1s", NULL);
    table_print(table, 0, &out);
    CHECK_TEXT(out.data, "NAME  AGE\n"
                         "a     1s\n");
    text_clear(&out);
    table_csv(table, &out);
    CHECK_TEXT(out.data, "NAME,TAGS,AGE\n"
                         "a,,1s\n");
    text_clear(&out);
    table_row(table);
    table_cells(table, "b", "good", "2s", NULL);
    table_print(table, 0, &out);
    CHECK_TEXT(out.data, "NAME  TAGS  AGE\n"
                         "a           1s\n"
                         "b     good  2s\n");
    text_free(&out);
    arena_free(arena);
}

/* A name may begin like another. */
static void narrow_terminals_do_without_spare_columns(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct table *table = table_new(arena);
    static const char *const titles[] = {"NAME", "STATE", "STATES", "AGE"};
    for (size_t i = 0; i < 4; i++)
        table_column(table, titles[i], ALIGN_LEFT);
    table_spare(table, "STATE AGE");
    table_row(table);
    for (size_t i = 0; i < 4; i++)
        table_cell(table, i == 0 ? "a rather long name" : "RUNNING");
    table_print(table, 37, &out);
    CHECK_TEXT(out.data, "NAME        STATE    STATES   AGE\n"
                         "a rather ~  RUNNING  RUNNING  RUNNING\n");
    text_clear(&out);
    table_print(table, 36, &out);
    CHECK_TEXT(out.data, "NAME                STATES   AGE\n"
                         "a rather long name  RUNNING  RUNNING\n");
    text_clear(&out);
    table_print(table, 18, &out);
    CHECK_TEXT(out.data, "NAME       STATES\n"
                         "a rather~  RUNNING\n");
    text_clear(&out);
    table_csv(table, &out);
    CHECK_TEXT(out.data, "NAME,STATE,STATES,AGE\n"
                         "a rather long name,RUNNING,RUNNING,RUNNING\n");
    text_free(&out);
    arena_free(arena);
}

static void foreign_control_bytes_are_escaped(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    table_print(two_columns(arena, "a\033[2Jb", "1"), 0, &out);
    CHECK(strchr(out.data, '\033') == NULL);
    CHECK(strstr(out.data, "a\\x1b[2Jb") != NULL);
    text_free(&out);
    arena_free(arena);
}

static void width_counts_characters_not_bytes(void)
{
    struct text out = {0};
    CHECK(table_width("\xc3\xa4\xc3\xb6") == 2);
    table_cut(&out, "\xc3\xa4\xc3\xb6\xc3\xbc", 2);
    CHECK_TEXT(out.data, "\xc3\xa4~");
    text_clear(&out);
    table_cut(&out, "abc", 3);
    CHECK_TEXT(out.data, "abc");
    text_free(&out);
}

static void east_asian_characters_take_two_columns(void)
{
    struct text out = {0};
    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    CHECK(table_width("a\xe6\xbc\xa2\xe5\xad\x97") == 5);
    CHECK(table_width("e\xcc\x81") == 1); /* an accent of its own */
    CHECK(table_width("\xff\xfe"
                      "a") == 3);
    table_cut(&out, "a\xe6\xbc\xa2\xe5\xad\x97", 4);
    CHECK_TEXT(out.data, "a\xe6\xbc\xa2~");
    text_clear(&out);
    table_cut(&out, "a\xe6\xbc\xa2\xe5\xad\x97", 3);
    CHECK_TEXT(out.data, "a~");
    text_free(&out);
    setlocale(LC_CTYPE, "C");
}

static void csv_quotes_what_needs_it(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct table *table = two_columns(arena, "say \"a, b\"", "0.1");
    table_csv(table, &out);
    CHECK_TEXT(out.data, "NAME,VALUE\n\"say \"\"a, b\"\"\",0.1\n");
    text_free(&out);
    arena_free(arena);
}

int main(void)
{
    RUN(columns_are_aligned);
    RUN(wide_cells_are_cut_to_the_terminal);
    RUN(a_cell_whose_tail_tells_most_is_cut_at_its_head);
    RUN(narrow_terminals_do_without_spare_columns);
    RUN(an_optional_column_is_there_with_something_in_it);
    RUN(foreign_control_bytes_are_escaped);
    RUN(width_counts_characters_not_bytes);
    RUN(east_asian_characters_take_two_columns);
    RUN(csv_quotes_what_needs_it);
    return check_done();
}
