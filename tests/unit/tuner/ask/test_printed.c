#include "tuner/ask/printed.h"

#include "tests/check.h"

static void added_patterns_come_first_and_each_once(void)
{
    static const char *const old[] = {"a={a}", "b={b}"};
    static const char *const added[] = {"c={c}", "b={b}", "c={c}"};
    struct arena *arena = arena_new();
    const struct strings all = printed_patterns(
        arena, &(struct strings){2, old}, &(struct strings){3, added});
    CHECK(all.n == 3);
    CHECK_TEXT(all.items[0], "c={c}");
    CHECK_TEXT(all.items[1], "b={b}");
    CHECK_TEXT(all.items[2], "a={a}");
    CHECK(
        printed_patterns(arena, &(struct strings){0}, &(struct strings){0}).n ==
        0);
    arena_free(arena);
}

int main(void)
{
    RUN(added_patterns_come_first_and_each_once);
    return check_done();
}
