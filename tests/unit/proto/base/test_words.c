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

static void a_part_of_a_name_means_that_name(void)
{
    static const char *const scales[] = {
        "UNIT_LINEAR_SCALE", "UNIT_REVERSE_LOG_SCALE", "UNIT_LOG_SCALE", NULL};
    static const char *const names[] = {"grid", "bayesian", NULL};
    CHECK_TEXT(words_nearest("LOG_SCALE", scales), "UNIT_LOG_SCALE");
    CHECK_TEXT(words_nearest("bayes", names), "bayesian");
    CHECK(words_closest("bayes", names) == NULL);
    CHECK(words_nearest("ay", names) == NULL);
    CHECK_TEXT(words_nearest("GRID_SEARCH", names), "grid");
    CHECK(words_nearest("search_grid", names) == NULL);
}

static void a_hint_ends_a_message(void)
{
    static const char *const names[] = {"nile", NULL};
    struct arena *arena = arena_new();
    CHECK_TEXT(words_hint(arena, "nil", names), " (did you mean nile?)");
    CHECK_TEXT(words_hint(arena, "seine", names), "");
    arena_free(arena);
}

int main(void)
{
    RUN(a_part_of_a_name_means_that_name);
    RUN(a_hint_ends_a_message);
    RUN(words_are_found_whole);
    RUN(words_are_found_in_a_list_that_grew);
    RUN(the_nearest_name_is_found_across_spellings);
    RUN(what_is_too_far_has_no_nearest);
    return check_done();
}
