#include "runner/base/json.h"

#include "tests/check.h"

struct taken {
    struct text ids; /* "id" of each item, a comma behind */
    size_t most;     /* items that are wanted */
};

static bool take(void *context, const struct node *item)
{
    struct taken *taken = context;
    text_printf(&taken->ids, "%s,", node_get_string(item, "id", "?"));
    return --taken->most > 0;
}

/* Feeds the bytes, `step` at a time. */
static enum json_stream_end feed(struct taken *taken, const char *bytes,
                                 size_t step, bool *whole)
{
    struct json_stream stream = {.depth = 0};
    enum json_stream_end end = JSON_STREAM_MORE;
    const size_t len = strlen(bytes);
    for (size_t i = 0; i < len && end == JSON_STREAM_MORE; i += step)
        end = json_stream_feed(&stream, bytes + i,
                               len - i < step ? len - i : step, take, taken);
    *whole = json_stream_is_whole(&stream);
    json_stream_fini(&stream);
    return end;
}

static void objects_are_cut_wherever_the_bytes_are(void)
{
    static const char bytes[] =
        "{\"id\":\"a\"}\r\n{\"id\":\"}{\\\"\",\"x\":[{\"y\":\"\\\\\"}]}"
        "{\"id\":\"c\"} \n";
    for (size_t step = 1; step <= sizeof bytes; step++) {
        struct taken taken = {.most = 99};
        bool whole;
        CHECK(feed(&taken, bytes, step, &whole) == JSON_STREAM_MORE);
        CHECK(whole);
        CHECK_TEXT(taken.ids.data, "a,}{\",c,");
        text_free(&taken.ids);
    }
}

static void no_item_comes_after_the_last_wanted_one(void)
{
    struct taken taken = {.most = 2};
    bool whole;
    CHECK(feed(&taken, "{\"id\":\"a\"}{\"id\":\"b\"}{\"id\":\"c\"}", 99,
               &whole) == JSON_STREAM_LEFT);
    CHECK_TEXT(taken.ids.data, "a,b,");
    text_free(&taken.ids);
}

static void an_item_that_has_not_ended_is_reported(void)
{
    struct taken taken = {.most = 99};
    bool whole;
    CHECK(feed(&taken, "{\"id\":\"a\"}{\"id\":", 4, &whole) ==
          JSON_STREAM_MORE);
    CHECK(!whole);
    CHECK_TEXT(taken.ids.data, "a,");
    text_free(&taken.ids);
}

static void what_is_no_object_breaks_the_stream(void)
{
    static const char *const broken[] = {
        "}{ no", "[1]", "\"a\"", "{\"a\":1,}", "{\"a\":]", "{a:1}", "null"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct taken taken = {.most = 99};
        bool whole;
        CHECK(feed(&taken, broken[i], 3, &whole) == JSON_STREAM_BROKEN);
        CHECK(taken.ids.len == 0);
        text_free(&taken.ids);
    }
}

static void an_endless_item_fills_no_memory(void)
{
    static const char piece[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct json_stream stream = {.depth = 0};
    struct taken taken = {.most = 99};
    enum json_stream_end end =
        json_stream_feed(&stream, "{\"", 2, take, &taken);
    for (int i = 0; i < 20000 && end == JSON_STREAM_MORE; i++)
        end = json_stream_feed(&stream, piece, sizeof piece - 1, take, &taken);
    CHECK(end == JSON_STREAM_BROKEN);
    CHECK(stream.item.len <= 1024 * 1024);
    json_stream_fini(&stream);
}

int main(void)
{
    RUN(objects_are_cut_wherever_the_bytes_are);
    RUN(no_item_comes_after_the_last_wanted_one);
    RUN(an_item_that_has_not_ended_is_reported);
    RUN(what_is_no_object_breaks_the_stream);
    RUN(an_endless_item_fills_no_memory);
    return check_done();
}
