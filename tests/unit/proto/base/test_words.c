#include "proto/base/words.h"

#include <string.h>

#include "tests/check.h"

static void words_are_found_whole(void)
{
    CHECK(words_has("trials trial best", "trial"));
    CHECK(words_has("trial", "trial"));
    CHECK(!words_has("trials best", "trial"));
    CHECK(!words_has("retrial", "trial"));
    CHECK(!words_has("trial", ""));
}

static void words_are_found_in_a_list_that_grew(void)
{
    struct arena *arena = arena_new();
    struct words words = {0};
    CHECK(!words_include(&words, "loss"));
    words_add(arena, &words, "loss");
    words_add(arena, &words, "accuracy");
    CHECK(words.n == 2);
    CHECK(words_include(&words, "loss") && words_include(&words, "accuracy"));
    CHECK(!words_include(&words, "acc"));
    arena_free(arena);
}

static void the_nearest_name_is_found_across_spellings(void)
{
    static const char *const names[] = {"maxTrialCount", "parallel", "seed",
                                        "minValue",      "maxValue", NULL};
    CHECK_TEXT(words_nearest("max_trial_count", names), "maxTrialCount");
    CHECK_TEXT(words_nearest("MAX-TRIAL-COUNT", names), "maxTrialCount");
    CHECK_TEXT(words_nearest("maxTrialsCount", names), "maxTrialCount");
    CHECK(words_are_alike("max_trial-Count", "maxTrialCount"));
    CHECK(!words_are_alike("maxTrials", "maxTrialCount"));
    CHECK(!words_are_alike("max", "maxTrialCount") &&
          !words_are_alike("", "-"));
    CHECK_TEXT(words_nearest("paralel", names), "parallel");
    CHECK_TEXT(words_nearest("pararllel", names), "parallel");
    CHECK_TEXT(words_nearest("sede", names), "seed");
    CHECK_TEXT(words_nearest("maxValeu", names), "maxValue");
    CHECK_TEXT(words_nearest("minvalue", names), "minValue");
}

static void what_is_too_far_has_no_nearest(void)
{
    static const char *const names[] = {"maxTrials", "seed", NULL};
    char longest[300];
    memset(longest, 's', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(words_nearest("image", names) == NULL);
    CHECK(words_nearest("sxxd", names) == NULL);
    CHECK(words_nearest("", names) == NULL);
    CHECK(words_nearest("--", names) == NULL);
    CHECK(words_nearest(longest, names) == NULL);
}

int main(void)
{
    RUN(words_are_found_whole);
    RUN(words_are_found_in_a_list_that_grew);
    RUN(the_nearest_name_is_found_across_spellings);
    RUN(what_is_too_far_has_no_nearest);
    return check_done();
}
