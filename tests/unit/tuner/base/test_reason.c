/* Reasons fit their column and stay UTF-8. */
#include "tuner/base/reason.h"

#include "proto/base/limits.h"
#include "tests/check.h"

static void short_reasons_are_kept(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(reason_cut(arena, ""), "");
    CHECK_TEXT(reason_make(arena, "exit %d", 3), "exit 3");
    arena_free(arena);
}

static void long_reasons_are_cut_between_characters(void)
{
    struct arena *arena = arena_new();
    char text[HT_MAX_REASON + 8];
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = "\xe2\x82\xac"[i % 3]; /* the euro sign, three bytes */
    text[sizeof text - 1] = '\0';
    CHECK(strlen(reason_cut(arena, text)) == HT_MAX_REASON / 3 * 3);
    text[HT_MAX_REASON / 3 * 3] = '\0';
    CHECK_TEXT(reason_cut(arena, text), text);
    arena_free(arena);
}

int main(void)
{
    RUN(short_reasons_are_kept);
    RUN(long_reasons_are_cut_between_characters);
    return check_done();
}
