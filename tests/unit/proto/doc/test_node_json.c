#include <stdlib.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "tests/check.h"
#include "tests/lib/document.h"

#define READS(text, json) CHECK(document_is(node_read_json, text, json))
#define FAILS(text, want)                                                      \
    CHECK(document_fails(node_read_json, text, sizeof text - 1, want))

static void every_kind_of_value_is_read(void)
{
    READS("{\"a\":[1,-2.5e3,true,false,null,\"x\"],\"b\":{}}",
          "{\"a\":[1,-2.5e3,true,false,null,\"x\"],\"b\":{}}");
    READS(" \t\r\n [ ] \n", "[]");
    READS("\"text\"", "\"text\"");
    READS("-0", "-0");
    READS("\xEF\xBB\xBF{}", "{}");
}

static void numbers_stay_as_they_were_written(void)
{
    READS("[9007199254740993,1e400,1.50,1E+2]",
          "[9007199254740993,1e400,1.50,1E+2]");
}

static void escapes_are_decoded(void)
{
    READS("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
    READS("\"\\u00e9\\u20AC\\ud83d\\ude00\\u0001\"",
          "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\\u0001\"");
    READS("\"\\uDBFF\\uDFFF\"", "\"\xF4\x8F\xBF\xBF\"");
}

static void places_are_lines_and_code_points(void)
{
    static const char text[] =
        "{\n  \"caf\xC3\xA9\": \"\xC3\xA9\", \"b\":[\r\n7]}";
    struct document document;
    document_read(&document, node_read_json, text, strlen(text));
    const struct node *first = document.root->first, *b = first->next;
    CHECK(document.root->line == 1 && document.root->column == 1);
    CHECK(first->key_line == 2 && first->key_column == 3);
    CHECK(first->line == 2 && first->column == 11);
    CHECK(b->key_line == 2 && b->key_column == 16 && b->column == 20);
    CHECK(b->first->line == 3 && b->first->column == 1);
    CHECK(document.root->key_line == 0 && document.root->count == 2);
    document_free(&document);
}

static void structure_must_be_complete(void)
{
    FAILS("", "1:1: expected a value, but the document ends");
    FAILS("  \n ", "2:2: expected a value, but the document ends");
    FAILS("[1", "1:3: expected ',' or ']', but the document ends");
    FAILS("{\"a\"", "1:5: expected ':' after the key, but the document ends");
    FAILS("{\"a\":1 \"b\":2}", "1:8: expected ',' or '}', found '\"'");
    FAILS("[1,]", "1:4: expected another item after ','");
    FAILS("{\"a\":1,}", "1:8: expected another item after ','");
    FAILS("{a:1}", "1:2: expected a key in double quotes, found 'a'");
    FAILS("[1 2]", "1:4: expected ',' or ']', found '2'");
    FAILS("[,1]", "1:2: expected a value, found ','");
    FAILS("{} x", "1:4: expected the end of the document, found 'x'");
    FAILS("{}{}", "1:3: expected the end of the document, found '{'");
    FAILS("[}", "1:2: expected a value, found '}'");
    FAILS("tru", "1:1: expected a value, found 't'");
    FAILS("nullx", "1:5: expected the end of the document, found 'x'");
    FAILS("\xFF", "1:1: expected a value, found a byte outside UTF-8");
}

static void numbers_have_one_spelling(void)
{
    FAILS("01", "1:2: no digit is allowed after a leading 0");
    FAILS("[1.]", "1:3: '.' is not allowed here in a number");
    FAILS("1e", "1:2: 'e' is not allowed here in a number");
    FAILS("-", "1:1: expected a value, found '-'");
    FAILS("+1", "1:1: expected a value, found '+'");
    FAILS(".5", "1:1: expected a value, found '.'");
    FAILS("NaN", "1:1: expected a value, found 'N'");
    FAILS("-Infinity", "1:1: expected a value, found '-'");
    FAILS("0x10", "1:2: expected the end of the document, found 'x'");
}

static void text_is_clean_utf8_without_control_bytes(void)
{
    FAILS("\"a\nb\"", "1:3: control byte 0x0a in text");
    FAILS("\"a\0b\"", "1:3: control byte 0x00 in text");
    FAILS("\"\xC0\xAF\"", "1:2: byte 0xc0 is not UTF-8");
    FAILS("\"\xED\xA0\x80\"", "1:2: byte 0xed is not UTF-8");
    FAILS("\"\xF4\x90\x80\x80\"", "1:2: byte 0xf4 is not UTF-8");
    FAILS("\"\xE2\x82\"", "1:2: byte 0xe2 is not UTF-8");
    FAILS("\"\\u0000\"", "1:8: \\u0000 is not allowed in text");
    FAILS("\"\\ud800x\"", "1:8: \\ud800 is half of a surrogate pair");
    FAILS("\"\\ud800\\u0041\"", "1:14: \\ud800 is half of a surrogate pair");
    FAILS("\"\\udc00\"", "1:8: \\udc00 is half of a surrogate pair");
    FAILS("\"\\u12g4\"", "1:6: expected four hexadecimal digits after \\u, "
                         "found 'g'");
    FAILS("\"\\x41\"", "1:3: expected one of \" \\ / b f n r t u after \\, "
                       "found 'x'");
    FAILS("[\"abc]", "1:7: the text that begins at line 1, column 2 has no "
                     "closing quote");
    FAILS("\"\\", "1:3: expected one of \" \\ / b f n r t u after \\, but the "
                  "document ends");
}

static void a_key_given_twice_is_an_error_at_the_second(void)
{
    FAILS("{\"a\":1,\n\"b\":2,\n \"a\":3}",
          "3:2: \"a\" was given before, on line 1");
    FAILS("{\"\\u0061\":1,\"a\":3}", "1:13: \"a\" was given before, on line 1");
    READS("{\"a\":{\"a\":1},\"A\":2}", "{\"a\":{\"a\":1},\"A\":2}");
}

static void every_repeated_key_is_told(void)
{
    static const char text[] =
        "{\"a\":1,\"b\":{\"c\":1,\"c\":2},\"a\":3,\"a\":4}";
    struct document document;
    document_read(&document, node_read_json, text, strlen(text));
    CHECK(document.root == NULL && document.diag.errors == 3);
    document_free(&document);
}

/* `depth` lists in each other, as text. */
static char *nested(size_t depth)
{
    char *text = malloc(2 * depth + 1);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[2 * depth] = '\0';
    return text;
}

static void depth_is_bounded(void)
{
    char *deepest = nested(HT_MAX_DEPTH), *deeper = nested(HT_MAX_DEPTH + 1);
    char *hostile = nested(100000);
    READS(deepest, deepest);
    CHECK(document_fails(node_read_json, deeper, strlen(deeper),
                         "1:65: lists and maps nest deeper than 64 levels"));
    CHECK(document_fails(node_read_json, hostile, strlen(hostile),
                         "1:65: lists and maps nest deeper than 64 levels"));
    free(deepest);
    free(deeper);
    free(hostile);
}

static void size_is_bounded(void)
{
    char *text = malloc(HT_MAX_SPEC + 1);
    memset(text, ' ', HT_MAX_SPEC + 1);
    text[0] = '7';
    struct document document;
    document_read(&document, node_read_json, text, HT_MAX_SPEC);
    CHECK(document.root != NULL);
    document_free(&document);
    CHECK(document_fails(node_read_json, text, HT_MAX_SPEC + 1,
                         "0:0: the document has 1048577 bytes, at most 1048576 "
                         "are allowed"));
    free(text);
}

/* 10^5 members on one line: whatever were quadratic would take minutes. */
static void a_document_of_full_size_takes_no_time(void)
{
    struct text text = {0};
    text_puts(&text, "{");
    for (int i = 0; text.len < HT_MAX_SPEC - 20; i++)
        text_printf(&text, "%s\"%d\":0", i > 0 ? "," : "", i);
    text_puts(&text, "}");
    struct document document;
    document_read(&document, node_read_json, text.data, text.len);
    CHECK(document.root != NULL && document.root->count > 90000);
    document_free(&document);
    text_free(&text);
}

static void the_text_need_not_end_with_nul(void)
{
    char *text = malloc(4);
    memcpy(text, "1234", 4);
    struct document document;
    document_read(&document, node_read_json, text, 4);
    CHECK_TEXT(document.root->text, "1234");
    document_free(&document);
    free(text);
}

static void usual_mistakes_come_with_a_hint(void)
{
    static const char *const pairs[][2] = {
        {"{'a':1}", "JSON writes text in double quotes"},
        {"[1,]", "remove the comma before ']'"},
        {"[True]", "JSON writes true and false in small letters"},
        {"[None]", "JSON writes null"},
        {"[NaN]", "JSON has no such number; write it in quotes"},
        {"[1] // x", "JSON has no comments"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct document document;
        document_read(&document, node_read_json, pairs[i][0],
                      strlen(pairs[i][0]));
        CHECK(document.diag.errors == 1);
        CHECK_TEXT(document.diag.first->hint, pairs[i][1]);
        document_free(&document);
    }
}

int main(void)
{
    json_init();
    RUN(every_kind_of_value_is_read);
    RUN(numbers_stay_as_they_were_written);
    RUN(escapes_are_decoded);
    RUN(places_are_lines_and_code_points);
    RUN(structure_must_be_complete);
    RUN(numbers_have_one_spelling);
    RUN(text_is_clean_utf8_without_control_bytes);
    RUN(a_key_given_twice_is_an_error_at_the_second);
    RUN(every_repeated_key_is_told);
    RUN(depth_is_bounded);
    RUN(size_is_bounded);
    RUN(a_document_of_full_size_takes_no_time);
    RUN(the_text_need_not_end_with_nul);
    RUN(usual_mistakes_come_with_a_hint);
    return check_done();
}
