#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "proto/base/quote.h"
#include "proto/doc/json.h"
#include "tests/check.h"
#include "tests/lib/document.h"

/* Prints and frees `item`, and compares. */
static void prints(cJSON *item, const char *want)
{
    struct text out = {0};
    json_print(item, &out);
    CHECK_TEXT(out.data, want);
    text_free(&out);
}

static void integers_keep_all_64_bits(void)
{
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "max", INT64_MAX);
    json_add_int(object, "min", INT64_MIN);
    json_add_int_text(object, "text", 9007199254740993);
    prints(object, "{\"max\":9223372036854775807,"
                   "\"min\":-9223372036854775808,"
                   "\"text\":\"9007199254740993\"}");
}

static void doubles_read_back_to_the_same_bits(void)
{
    uint64_t state = 42;
    for (int i = 0; i < 5000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value, back = 0;
        memcpy(&value, &state, sizeof value);
        if (!isfinite(value))
            continue;
        struct text out = {0};
        struct document document;
        cJSON *array = cJSON_CreateArray();
        json_push_double(array, value);
        json_print(array, &out);
        document_read(&document, node_read_json, out.data, out.len);
        CHECK(node_double(document.root->first, &back));
        CHECK(memcmp(&back, &value, sizeof value) == 0);
        document_free(&document);
        text_free(&out);
    }
}

static void what_is_not_finite_becomes_text(void)
{
    cJSON *object = cJSON_CreateObject();
    json_add_double(object, "a", (double)NAN);
    json_add_double(object, "b", (double)INFINITY);
    json_add_double(object, "c", -(double)INFINITY);
    cJSON_AddNumberToObject(object, "d", (double)NAN);
    cJSON_AddNumberToObject(object, "e", 0.1);
    prints(object, "{\"a\":\"NaN\",\"b\":\"Infinity\",\"c\":\"-Infinity\","
                   "\"d\":\"NaN\",\"e\":0.1}");
}

static void containers_are_filled_piece_by_piece(void)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "name", "digits");
    json_add_string(object, "image", NULL);
    json_add_bool(object, "stop", false);
    json_add_int(json_add_object(object, "counts"), "active", 2);
    cJSON *array = json_add_array(object, "items");
    json_push_int(array, -1);
    json_push_string(array, "x");
    json_push_string(array, NULL);
    json_add_bool(json_push_object(array), "ok", true);
    prints(object, "{\"name\":\"digits\",\"image\":null,\"stop\":false,"
                   "\"counts\":{\"active\":2},"
                   "\"items\":[-1,\"x\",null,{\"ok\":true}]}");
}

static void pretty_is_indented_by_two(void)
{
    struct text out = {0};
    cJSON *object = cJSON_CreateObject();
    json_add_array(object, "none");
    json_push_int(json_add_array(object, "some"), 1);
    json_add_object(object, "empty");
    json_print_pretty(object, &out);
    CHECK_TEXT(out.data, "{\n"
                         "  \"none\": [],\n"
                         "  \"some\": [\n"
                         "    1\n"
                         "  ],\n"
                         "  \"empty\": {}\n"
                         "}");
    text_free(&out);
}

static void printing_appends(void)
{
    struct text out = {0};
    text_puts(&out, "data: ");
    json_print(cJSON_CreateTrue(), &out);
    CHECK_TEXT(out.data, "data: true");
    text_free(&out);
}

static void quoted(const char *value, const char *want)
{
    struct text out = {0};
    quote_json(&out, value);
    CHECK_TEXT(out.data, want);
    text_free(&out);
}

static void strings_are_quoted_and_clean(void)
{
    quoted("", "\"\"");
    quoted("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    quoted("\b\f\n\r\t\x01\x1f\x7f",
           "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
    quoted("\xC3\xA9\xF0\x9F\x98\x80", "\"\xC3\xA9\xF0\x9F\x98\x80\"");
    quoted("a\xFF\n\xE2\x82", "\"a\xEF\xBF\xBD\\n\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

/* Somebody who reads a spec sees the order that the program sees. */
static void marks_that_reorder_text_are_escaped(void)
{
    quoted("a\xE2\x80\xAE z\xE2\x81\xA6\xE2\x80\x8F\xD8\x9C",
           "\"a\\u202e z\\u2066\\u200f\\u061c\"");
    quoted("\xC2\x9B[2J\xE2\x80\xAF", "\"\\u009b[2J\xE2\x80\xAF\"");
}

static void a_tree_from_outside_prints_as_it_was(void)
{
    static const char text[] =
        "{\"n\":[9007199254740993,1e400,-0],\"t\":\"\\u0001\\n\",\"b\":true,"
        "\"z\":null,\"m\":{}}";
    CHECK(document_is(node_read_json, text, text));
}

int main(void)
{
    json_init();
    RUN(integers_keep_all_64_bits);
    RUN(doubles_read_back_to_the_same_bits);
    RUN(what_is_not_finite_becomes_text);
    RUN(containers_are_filled_piece_by_piece);
    RUN(pretty_is_indented_by_two);
    RUN(printing_appends);
    RUN(strings_are_quoted_and_clean);
    RUN(marks_that_reorder_text_are_escaped);
    RUN(a_tree_from_outside_prints_as_it_was);
    return check_done();
}
