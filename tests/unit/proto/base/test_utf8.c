#include "proto/base/utf8.h"

#include "proto/base/text.h"
#include "tests/check.h"

static void sequences_are_those_of_rfc_3629(void)
{
    CHECK(utf8_sequence("a", 1) == 1);
    CHECK(utf8_sequence("\xC2\x80", 2) == 2);
    CHECK(utf8_sequence("\xE0\xA0\x80", 3) == 3);
    CHECK(utf8_sequence("\xED\x9F\xBF", 3) == 3);
    CHECK(utf8_sequence("\xEE\x80\x80", 3) == 3);
    CHECK(utf8_sequence("\xF0\x90\x80\x80", 4) == 4);
    CHECK(utf8_sequence("\xF4\x8F\xBF\xBF", 4) == 4);
}

static void what_could_smuggle_is_refused(void)
{
    CHECK(utf8_sequence("", 0) == 0);
    CHECK(utf8_sequence("\x80", 1) == 0);
    CHECK(utf8_sequence("\xC0\xAF", 2) == 0);         /* overlong '/' */
    CHECK(utf8_sequence("\xC1\xBF", 2) == 0);         /* overlong */
    CHECK(utf8_sequence("\xE0\x9F\xBF", 3) == 0);     /* overlong */
    CHECK(utf8_sequence("\xF0\x8F\xBF\xBF", 4) == 0); /* overlong */
    CHECK(utf8_sequence("\xED\xA0\x80", 3) == 0);     /* U+D800 */
    CHECK(utf8_sequence("\xF4\x90\x80\x80", 4) == 0); /* U+110000 */
    CHECK(utf8_sequence("\xF5\x80\x80\x80", 4) == 0);
    CHECK(utf8_sequence("\xE2\x82", 2) == 0); /* cut off */
    CHECK(utf8_sequence("\xE2\x28\xA1", 3) == 0);
    CHECK(utf8_sequence("\xF0\x90\x28\x80", 4) == 0);
}

static void every_code_point_survives_both_ways(void)
{
    for (uint32_t code = 0; code <= 0x10FFFF; code += code < 0x3000 ? 1 : 61) {
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        char buffer[4];
        size_t n = utf8_encode(buffer, code);
        CHECK(utf8_sequence(buffer, n) == n);
        CHECK(utf8_decode(buffer, n) == code);
        CHECK(utf8_count(buffer, n) == 1);
    }
}

static void cleaned(const char *raw, const char *want)
{
    struct text text = {0};
    text_clean(&text, raw, strlen(raw));
    CHECK_TEXT(text.data, want);
    CHECK(utf8_is_valid(text.data, text.len));
    text_free(&text);
}

static void cleaning_replaces_each_foreign_byte(void)
{
    cleaned("", "");
    cleaned("caf\xC3\xA9", "caf\xC3\xA9");
    cleaned("a\xFF"
            "b\xC3",
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
    cleaned("\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(!utf8_is_valid("a\xFF", 2));
}

int main(void)
{
    RUN(sequences_are_those_of_rfc_3629);
    RUN(what_could_smuggle_is_refused);
    RUN(every_code_point_survives_both_ways);
    RUN(cleaning_replaces_each_foreign_byte);
    return check_done();
}
