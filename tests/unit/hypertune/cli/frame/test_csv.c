#include "hypertune/cli/frame/csv.h"

#include "tests/check.h"

static void check_field(const char *value, const char *written)
{
    struct text out = {0};
    csv_field(value, &out);
    CHECK_TEXT(out.data != NULL ? out.data : "", written);
    text_free(&out);
}

static void fields_are_quoted_when_they_have_to_be(void)
{
    check_field("", "");
    check_field("adam", "adam");
    check_field("a b", "a b");
    check_field("a,b", "\"a,b\"");
    check_field("a\"b", "\"a\"\"b\"");
    check_field("a\nb", "\"a\nb\"");
    check_field("a\rb", "\"a\rb\"");
}

static void text_cannot_become_a_formula(void)
{
    check_field("=1+2", "'=1+2");
    check_field("-O2", "'-O2");
    check_field("+x", "'+x");
    check_field("@SUM(A1)", "'@SUM(A1)");
    check_field("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"");
    check_field("-0.5", "-0.5");
    check_field("-1e-05", "-1e-05");
    check_field("-Infinity", "-Infinity");
}

static bool next_is(struct csv_reader *reader, struct arena *arena, size_t n,
                    const char *const want[])
{
    struct csv_record record;
    if (!csv_read(reader, arena, &record) || record.n != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(record.fields[i], want[i]) != 0)
            return false;
    }
    return true;
}

static void records_are_read_as_they_were_written(void)
{
    static const char *const fields[] = {
        "a,b", "-O2", "line\nbreak", "", "\"quoted\"", "'tis", "=x", "-1.5"};
    enum { N = sizeof fields / sizeof *fields };
    struct arena *arena = arena_new();
    struct text out = {0};
    for (size_t i = 0; i < N; i++) {
        text_puts(&out, i > 0 ? "," : "");
        csv_field(fields[i], &out);
    }
    struct csv_reader reader = {.at = out.data, .line = 1};
    struct csv_record record;
    CHECK(next_is(&reader, arena, N, fields));
    CHECK(!csv_read(&reader, arena, &record));
    text_free(&out);
    arena_free(arena);
}

static void lines_end_in_either_way_and_are_counted(void)
{
    static const char *const first[] = {"a", "b"};
    static const char *const second[] = {"1\n2", ""};
    struct arena *arena = arena_new();
    struct csv_reader reader = {.at = "\r\na,b\r\n\n\"1\n2\",\nlast",
                                .line = 1};
    struct csv_record record;
    CHECK(next_is(&reader, arena, 2, first));
    CHECK(next_is(&reader, arena, 2, second));
    CHECK(csv_read(&reader, arena, &record));
    CHECK(record.line == 6 && record.n == 1);
    CHECK_TEXT(record.fields[0], "last");
    CHECK(!csv_read(&reader, arena, &record));
    arena_free(arena);
}

static void an_open_quote_runs_to_the_end(void)
{
    struct arena *arena = arena_new();
    struct csv_reader reader = {.at = "\"a,b\nc", .line = 1};
    struct csv_record record;
    CHECK(csv_read(&reader, arena, &record));
    CHECK(record.n == 1);
    CHECK_TEXT(record.fields[0], "a,b\nc");
    CHECK(!csv_read(&reader, arena, &record));
    arena_free(arena);
}

int main(void)
{
    RUN(fields_are_quoted_when_they_have_to_be);
    RUN(text_cannot_become_a_formula);
    RUN(records_are_read_as_they_were_written);
    RUN(lines_end_in_either_way_and_are_counted);
    RUN(an_open_quote_runs_to_the_end);
    return check_done();
}
