#include "hypertune/cli/study/read_logs.h"

#include "tests/check.h"

static struct words given(struct arena *arena, const char *a, const char *b)
{
    struct words words = {0};
    words_add(arena, &words, a);
    if (b != NULL)
        words_add(arena, &words, b);
    return words;
}

static void auto_is_no_pattern(void)
{
    struct arena *arena = arena_new();
    struct strings patterns;
    struct ht_error err;
    struct words words = given(arena, "auto", "step {step} acc: {accuracy}");
    CHECK(cli_metric_is_auto(&words));
    CHECK(cli_metric_patterns(arena, &words, &patterns, &err) == HT_OK);
    CHECK(patterns.n == 1);
    CHECK_TEXT(patterns.items[0], "step {step} acc: {accuracy}");
    words = given(arena, "automatic={accuracy}", NULL);
    CHECK(!cli_metric_is_auto(&words));
    arena_free(arena);
}

static void what_is_no_pattern_is_named(void)
{
    static const struct {
        const char *text, *fault;
    } all[] = {{"accuracy",
                "\"accuracy\" is no pattern: that is the text around the "
                "value, with the metric in braces, such as 'accuracy: "
                "{accuracy}'; or auto"},
               {"acc: {accuracy", "\"acc: {accuracy\": a brace is not closed"},
               {"step {step}", "\"step {step}\": has no {name} of a metric"},
               {"{a}{b}",
                "\"{a}{b}\": two fields side by side need text between them"}};
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct strings patterns;
        struct ht_error err;
        const struct words words = given(arena, "x={x}", all[i].text);
        CHECK(cli_metric_patterns(arena, &words, &patterns, &err) ==
              HT_INVALID);
        CHECK_TEXT(err.text, all[i].fault);
    }
    arena_free(arena);
}

int main(void)
{
    RUN(auto_is_no_pattern);
    RUN(what_is_no_pattern_is_named);
    return check_done();
}
