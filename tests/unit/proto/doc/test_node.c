#include <math.h>
#include <stdint.h>

#include "proto/doc/node.h"
#include "tests/check.h"
#include "tests/lib/document.h"

static const char text[] =
    "{\"int\":7,\"text\":\"8\",\"real\":0.5,\"big\":1e400,\"yes\":true,"
    "\"no\":false,\"null\":null,\"list\":[1],\"map\":{\"in\":1},\"nan\":"
    "\"NaN\","
    "\"inf\":\"Infinity\",\"neg\":\"-Infinity\",\"word\":\"abc\",\"\":2}";

static struct document document;

static const struct node *at(const char *key)
{
    return node_find(document.root, key);
}

static void members_are_found_by_key(void)
{
    CHECK(at("int")->kind == NODE_NUMBER);
    CHECK(node_find(at("map"), "in") != NULL);
    CHECK(at("") != NULL && at("absent") == NULL);
    CHECK(node_find(NULL, "x") == NULL);
    CHECK(node_find(at("list"), "x") == NULL);
    CHECK(node_find(at("int"), "x") == NULL);
}

static void integers_come_from_numbers_and_their_text(void)
{
    int64_t value = 77;
    CHECK(node_int64(at("int"), &value) && value == 7);
    CHECK(node_int64(at("text"), &value) && value == 8);
    value = 77;
    CHECK(!node_int64(at("real"), &value) && !node_int64(at("word"), &value));
    CHECK(!node_int64(at("yes"), &value) && !node_int64(at("list"), &value));
    CHECK(!node_int64(at("null"), &value) && !node_int64(NULL, &value));
    CHECK(value == 77);
}

static void doubles_are_finite(void)
{
    double value = 77;
    CHECK(node_double(at("real"), &value) && value == 0.5);
    CHECK(node_double(at("text"), &value) && value == 8);
    value = 77;
    CHECK(!node_double(at("big"), &value) && !node_double(at("nan"), &value));
    CHECK(!node_double(at("map"), &value) && !node_double(NULL, &value));
    CHECK(value == 77);
}

static void booleans_and_texts_are_not_converted(void)
{
    bool value = false;
    CHECK(node_bool(at("yes"), &value) && value);
    CHECK(node_bool(at("no"), &value) && !value);
    CHECK(!node_bool(at("int"), &value) && !node_bool(NULL, &value));
    CHECK_TEXT(node_string(at("word")), "abc");
    CHECK(node_string(at("int")) == NULL && node_string(NULL) == NULL);
}

static void getters_fall_back(void)
{
    const struct node *map = document.root;
    CHECK(node_get_int(map, "int", 1) == 7);
    CHECK(node_get_int(map, "real", 1) == 1);
    CHECK(node_get_int(map, "absent", 1) == 1);
    CHECK(node_get_int(NULL, "int", 1) == 1);
    CHECK(node_get_double(map, "real", 1) == 0.5);
    CHECK(isnan(node_get_double(map, "nan", 1)));
    CHECK(node_get_double(map, "inf", 1) > 1e308);
    CHECK(node_get_double(map, "neg", 1) < -1e308);
    CHECK(node_get_double(map, "big", 1) == 1);
    CHECK(node_get_double(map, "word", 1) == 1);
    CHECK_TEXT(node_get_string(map, "word", "x"), "abc");
    CHECK_TEXT(node_get_string(map, "int", "x"), "x");
    CHECK(node_get_bool(map, "yes", false) && node_get_bool(map, "int", true));
}

static void a_brace_or_bracket_means_json(void)
{
    CHECK(document_is(node_read, " \n\t{\"a\":1}", "{\"a\":1}"));
    CHECK(document_is(node_read, "\xEF\xBB\xBF[1]", "[1]"));
    CHECK(document_is(node_read, "a: [1]", "{\"a\":[1]}"));
    CHECK(document_fails(node_read, "{a: 1}", 6,
                         "1:2: expected a key in double quotes, found 'a'"));
    CHECK(document_fails(node_read, "", 0, "0:0: the document is empty"));
}

static void kinds_have_names_for_people(void)
{
    CHECK_TEXT(node_kind_name(NODE_LIST), "a list");
    CHECK_TEXT(node_kind_name(NODE_STRING), "text");
    CHECK_TEXT(node_kind_name(NODE_NULL), "null");
}

int main(void)
{
    document_read(&document, node_read_json, text, strlen(text));
    RUN(members_are_found_by_key);
    RUN(integers_come_from_numbers_and_their_text);
    RUN(doubles_are_finite);
    RUN(booleans_and_texts_are_not_converted);
    RUN(getters_fall_back);
    RUN(a_brace_or_bracket_means_json);
    RUN(kinds_have_names_for_people);
    document_free(&document);
    return check_done();
}
