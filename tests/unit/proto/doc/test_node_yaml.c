#include <stdlib.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "tests/check.h"
#include "tests/lib/document.h"

#define READS(text, json) CHECK(document_is(node_read_yaml, text, json))
#define FAILS(text, want)                                                      \
    CHECK(document_fails(node_read_yaml, text, sizeof text - 1, want))

static void the_native_form_is_read(void)
{
    READS("# a study\n"
          "spec: 1\n"
          "name: digits\n"
          "parameters:\n"
          "  lr: {type: double, min: 1e-5, max: 1e-1, scale: log}\n"
          "  batch: [32, 64, 128]\n"
          "constraints: [\"layers * 16 <= batch * 4\"]\n"
          "until: {target: 0.99, time: 2h}\n"
          "command: [python3, train.py]\n"
          "args:\n"
          "- --flag\n"
          "- 'x: y'\n",
          "{\"spec\":1,\"name\":\"digits\",\"parameters\":{\"lr\":{\"type\":"
          "\"double\",\"min\":1e-5,\"max\":1e-1,\"scale\":\"log\"},\"batch\":["
          "32,64,128]},\"constraints\":[\"layers * 16 <= batch * 4\"],"
          "\"until\":{\"target\":0.99,\"time\":\"2h\"},\"command\":["
          "\"python3\",\"train.py\"],\"args\":[\"--flag\",\"x: y\"]}");
}

static void plain_scalars_follow_the_core_schema(void)
{
    READS("[true, True, TRUE, false, False, FALSE]",
          "[true,true,true,false,false,false]");
    READS("[yes, no, on, off, y, n, tRUE]",
          "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\",\"tRUE\"]");
    READS("[null, Null, NULL, ~]", "[null,null,null,null]");
    READS("a:\nb: \n", "{\"a\":null,\"b\":null}");
    READS("[0, -1, +1, 1e-5, 1E5, .5, 5., -.5e+3, 1.50]",
          "[0,-1,1,1e-5,1E5,0.5,5,-0.5e+3,1.50]");
    READS("[0x1F, 0o17, 0xffffffffffffffff]", "[31,15,18446744073709551615]");
    READS("[.inf, -.inf, .nan, 0x10000000000000000, 0x, 0o8, 1_000, 1:30, ., "
          "+, e5, 1e, 0b1, 1.2.3, +0x1F]",
          "[\".inf\",\"-.inf\",\".nan\",\"0x10000000000000000\",\"0x\",\"0o8\","
          "\"1_000\",\"1:30\",\".\",\"+\",\"e5\",\"1e\",\"0b1\",\"1.2.3\","
          "\"+0x1F\"]");
}

static void quoted_and_block_scalars_are_text(void)
{
    READS("['1', \"true\", '~', \"a\\tb\\u00e9\", '']",
          "[\"1\",\"true\",\"~\",\"a\\tb\xC3\xA9\",\"\"]");
    READS("a: |\n  one\n   two\nb: >-\n  1\n  2\n",
          "{\"a\":\"one\\n two\\n\",\"b\":\"1 2\"}");
}

static void json_is_yaml_too(void)
{
    READS("{\"a\": [1, {\"b\": null}]}", "{\"a\":[1,{\"b\":null}]}");
}

static void keys_are_text_as_written(void)
{
    READS("1: a\ntrue: b\n'': c\n'<<': d\n\"q\": e\n",
          "{\"1\":\"a\",\"true\":\"b\",\"\":\"c\",\"<<\":\"d\",\"q\":\"e\"}");
}

static void leading_zeros_come_with_a_warning(void)
{
    static const char text[] = "zip: [01234, -007, 00.5, 0, 0.5, '01']";
    struct document document;
    struct text out = {0};
    document_read(&document, node_read_yaml, text, strlen(text));
    CHECK(document.diag.errors == 0 && document.diag.warnings == 3);
    CHECK(document.diag.first->column == 7);
    CHECK_TEXT(document.diag.first->text,
               "01234 is read as a number without its leading zero");
    json_print(json_of_node(document.root), &out);
    CHECK_TEXT(out.data, "{\"zip\":[1234,-7,0.5,0,0.5,\"01\"]}");
    text_free(&out);
    document_free(&document);
}

static void places_are_lines_and_code_points(void)
{
    static const char text[] = "\xEF\xBB\xBF# \xC2\x85 \xE2\x80\xA8\r\n"
                               "caf\xC3\xA9: {\xC3\xA9: 1, b:\r\n  x}\r\n"
                               "list:\n- 7\n";
    struct document document;
    document_read(&document, node_read_yaml, text, strlen(text));
    CHECK(document.root != NULL);
    const struct node *cafe = document.root->first;
    const struct node *b = cafe->first->next, *list = cafe->next;
    CHECK(cafe->key_line == 2 && cafe->key_column == 1 && cafe->column == 7);
    CHECK(cafe->first->column == 11 && b->key_column == 14);
    CHECK(b->line == 3 && b->column == 3);
    CHECK(list->key_line == 4 && list->line == 5 && list->column == 1);
    CHECK(list->first->line == 5 && list->first->column == 3);
    document_free(&document);
}

static void what_hides_values_is_refused(void)
{
    FAILS("a: &x 1", "1:4: anchors (&x) are not supported");
    FAILS("a: &x [1]", "1:4: anchors (&x) are not supported");
    FAILS("&x a: 1", "1:1: anchors (&x) are not supported");
    FAILS("a: &x\n  b: 1\n", "1:4: anchors (&x) are not supported");
    FAILS("a: *x", "1:4: aliases (*x) are not supported");
    FAILS("*x : 1", "1:1: aliases (*x) are not supported");
    FAILS("a: !!str 1", "1:4: tags (!!str) are not supported");
    FAILS("a: !foo [1]", "1:4: tags (!foo) are not supported");
    FAILS("!!map {a: 1}", "1:1: tags (!!map) are not supported");
    FAILS("a: !x!y 1", "1:4: tags (!name) are not supported");
    FAILS("a: 1\n<<: {b: 2}", "2:1: merge keys (<<) are not supported");
    FAILS("[1, 2]: 3", "1:1: a key must be text, not a list or a map");
    FAILS("? {a: 1}\n: 3", "1:3: a key must be text, not a list or a map");
    FAILS("?\n: 1", "1:2: there is no key before this ':'");
    FAILS("a: \"x\\0y\"", "1:4: a NUL character (\\0) is not allowed in text");
    FAILS("a: 1\n---\nb: 2\n", "2:1: a second document begins here");
    FAILS("a: 1\nb: 2\na: 3\n", "3:1: \"a\" was given before, on line 1");
}

static void all_of_it_is_told_at_once(void)
{
    static const char text[] = "a: &x 1\nb: *x\nc: !!str 2\n<<: {}\n[1]: 2\n"
                               "[2]: 2\na: 3\n";
    struct document document;
    document_read(&document, node_read_yaml, text, strlen(text));
    CHECK(document.root == NULL && document.diag.errors == 7);
    document_free(&document);
}

static void faults_of_syntax_are_told_in_plain_words(void)
{
    FAILS("", "0:0: the document is empty");
    FAILS("# nothing\n", "0:0: the document is empty");
    FAILS("a:\n\tb: 1\n", "2:1: a tab indents this line");
    FAILS("a: 1\n  \tb: 1\n", "2:5: a tab indents this line");
    FAILS("a: 1\n  b: 2\n", "2:4: a ':' is not allowed here");
    FAILS("a: b: c\n", "1:5: a ':' is not allowed here");
    FAILS("a: 1\nb\nc: 2\n", "2:1: this key has no ':' after it");
    FAILS("a:\n  b: 1\n c: 2\n",
          "3:2: expected a key of the map that began on line 1");
    FAILS("a:\n  - 1\n  b: 1\n",
          "3:3: expected a '-' of the list that began on line 2");
    FAILS("a: [1, 2\nb: 3\n",
          "2:2: expected ',' or ']' in the list that began on line 1");
    FAILS("a: {b: 1\n", "2:1: expected ',' or '}' in the map that began on "
                        "line 1");
    FAILS("a: \"abc\nb: 1\n", "1:4: this text has no closing quote");
    FAILS("a: 'abc\n---\n", "1:4: this text has no closing quote");
    FAILS("a: \"\\d\"", "1:5: there is no such escape in double quotes");
    FAILS("a: \"\\x4g\"", "1:7: expected a hexadecimal digit");
    FAILS("a: \"\\ud800\"", "1:7: this escape is no Unicode character");
    FAILS("a: @x", "1:4: text cannot begin with '@'");
    FAILS("a: `x`", "1:4: text cannot begin with '`'");
    FAILS("a: %x", "1:4: text cannot begin with '%'");
    FAILS("p: *.py", "1:4: text cannot begin with '*' or '&'");
    FAILS("a: - 1", "1:4: a '-' cannot begin a list here");
    FAILS("[1] x", "1:5: expected the end of the document");
    FAILS("a: [1, ]]", "1:9: expected a key of the map that began on line 1");
    FAILS("a: \x01", "1:4: the control character U+0001 is not allowed");
    FAILS("a: \xC3\xA9\xFF", "1:5: a byte here is not UTF-8");
    FAILS("a: b\0", "1:5: the control character U+0000 is not allowed");
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
    char *deepest = nested(HT_MAX_DEPTH), *hostile = nested(100000);
    READS(deepest, deepest);
    CHECK(document_fails(node_read_yaml, hostile, strlen(hostile),
                         "1:65: lists and maps nest deeper than 64 levels"));
    free(deepest);
    free(hostile);
}

static void size_is_bounded(void)
{
    char *text = malloc(HT_MAX_YAML + 1);
    memset(text, 'x', HT_MAX_YAML + 1);
    struct document document;
    document_read(&document, node_read_yaml, text, HT_MAX_YAML);
    CHECK(document.root != NULL);
    document_free(&document);
    CHECK(document_fails(node_read_yaml, text, HT_MAX_YAML + 1,
                         "0:0: the document has 262145 bytes, at most 262144 "
                         "are allowed"));
    free(text);
}

/* Documents of full size whose places or keys would cost a square. */
static void a_document_of_full_size_takes_no_time(void)
{
    static const char *const items[] = {"{a: },", "k%d: ,", "? ,", "&a b,",
                                        "[],"};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct text text = {0};
        text_puts(&text, items[i][0] == 'k' ? "{" : "[");
        for (int k = 0; text.len < HT_MAX_YAML - 20; k++) {
            if (items[i][0] == 'k')
                text_printf(&text, "k%d: ,", k);
            else
                text_puts(&text, items[i]);
        }
        text_puts(&text, items[i][0] == 'k' ? "}" : "]");
        struct document document;
        document_read(&document, node_read_yaml, text.data, text.len);
        CHECK((document.root != NULL) == (document.diag.errors == 0));
        document_free(&document);
        text_free(&text);
    }
}

int main(void)
{
    json_init();
    RUN(the_native_form_is_read);
    RUN(plain_scalars_follow_the_core_schema);
    RUN(quoted_and_block_scalars_are_text);
    RUN(json_is_yaml_too);
    RUN(keys_are_text_as_written);
    RUN(leading_zeros_come_with_a_warning);
    RUN(places_are_lines_and_code_points);
    RUN(what_hides_values_is_refused);
    RUN(all_of_it_is_told_at_once);
    RUN(faults_of_syntax_are_told_in_plain_words);
    RUN(depth_is_bounded);
    RUN(size_is_bounded);
    RUN(a_document_of_full_size_takes_no_time);
    return check_done();
}
