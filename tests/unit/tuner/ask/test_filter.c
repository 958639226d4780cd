#include "tuner/ask/filter.h"

#include <string.h>

#include "proto/base/text.h"
#include "tests/check.h"

static const char *const states[] = {"JOB_STATE_RUNNING", "JOB_STATE_FAILED",
                                     "RUNNING", "FAILED", NULL};
static const struct filter_field fields[] = {{"state", FILTER_NAME, states},
                                             {"displayName", FILTER_TEXT, NULL},
                                             {"createTime", FILTER_TIME, NULL},
                                             {"labels", FILTER_MAP, NULL},
                                             {NULL, FILTER_TEXT, NULL}};

/* RUNNING, named resnet "b" 7, made at noon, team=red, empty= */
static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    (void)item;
    if (strcmp(field, "state") == 0) {
        values[0] = "JOB_STATE_RUNNING";
        values[1] = "RUNNING";
        return 2;
    }
    if (strcmp(field, "labels") == 0) {
        values[0] = strcmp(key, "team") == 0 ? "red" : "";
        return filter_key_is(key, "team") || strcmp(key, "empty") == 0;
    }
    values[0] = strcmp(field, "createTime") == 0 ? "2026-11-21T12:00:00.000Z"
                                                 : "resnet \"b\" 7";
    return 1;
}

/* '+' wanted, '-' not wanted, '!' refused */
static char judge(const char *text)
{
    struct arena *arena = arena_new();
    const struct filter *filter;
    char verdict = '!';
    if (filter_read(arena, text, fields, &filter, NULL) == HT_OK)
        verdict = filter_allows(filter, look_up, NULL) ? '+' : '-';
    arena_free(arena);
    return verdict;
}

static void without_a_filter_everything_is_wanted(void)
{
    CHECK(judge(NULL) == '+');
    CHECK(judge("") == '+');
    CHECK(judge(" \t ") == '+');
}

static void texts_are_compared(void)
{
    CHECK(judge("state=\"JOB_STATE_RUNNING\"") == '+');
    CHECK(judge("state = RUNNING") == '+');
    CHECK(judge("state!=RUNNING") == '-');
    CHECK(judge("state!=\"JOB_STATE_FAILED\"") == '+');
    CHECK(judge("display_name=\"resnet \\\"b\\\" 7\"") == '+');
    CHECK(judge("displayName=resnet") == '-');
    CHECK(judge("display_name=\"*\"") == '-'); /* a star is a star here */
}

static void names_of_an_enumeration_are_compared(void)
{
    CHECK(judge("state=FAILED") == '-');
    CHECK(judge("state!=FAILED") == '+');
    CHECK(judge("state:RUNNING") == '+');
    CHECK(judge("state:\"JOB_STATE_R*\"") == '+');
    CHECK(judge("state:\"*FAIL*\"") == '-');
    CHECK(judge("state:*") == '+');
}

static void a_name_that_does_not_exist_is_told(void)
{
    static const char *const wrong[][2] = {
        {"state=NOPE",
         "filter: \"NOPE\" is no state such as JOB_STATE_RUNNING"},
        {"state!=running",
         "filter: \"running\" is no state such as JOB_STATE_RUNNING"},
        {"display_name:a OR state:\"N*\"",
         "filter: \"N*\" is no state such as JOB_STATE_RUNNING"},
        {"state=3", "filter: \"3\" is no state such as JOB_STATE_RUNNING"},
        {"state=\"R*\"",
         "filter: \"R*\" is no state such as JOB_STATE_RUNNING"}};
    struct arena *arena = arena_new();
    const struct filter *filter;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ht_error err = {0};
        CHECK(filter_read(arena, wrong[i][0], fields, &filter, &err) ==
              HT_INVALID);
        CHECK_TEXT(err.text, wrong[i][1]);
    }
    arena_free(arena);
}

static void a_star_stands_for_any_characters(void)
{
    CHECK(judge("display_name:\"resnet*\"") == '+');
    CHECK(judge("display_name:\"*7\"") == '+');
    CHECK(judge("display_name:\"*e*e*7\"") == '+');
    CHECK(judge("display_name:\"r*\\\"*\\\"*\"") == '+');
    CHECK(judge("display_name:*") == '+');
    CHECK(judge("display_name:\"resnet\"") == '-');
    CHECK(judge("display_name:\"*8\"") == '-');
    CHECK(judge("display_name:\"*e*e*e*\"") == '-');
}

static void times_are_compared_as_times(void)
{
    CHECK(judge("create_time=\"2026-11-21T12:00:00Z\"") == '+');
    CHECK(judge("create_time=\"2026-11-21T13:00:00+01:00\"") == '+');
    CHECK(judge("create_time>=2026-11-21T12:00:00Z") == '+');
    CHECK(judge("createTime > \"2026-11-21T12:00:00Z\"") == '-');
    CHECK(judge("createTime<\"2026-11-21T12:00:00.001Z\"") == '+');
    CHECK(judge("createTime<=\"2026-11-21T11:59:59Z\"") == '-');
    CHECK(judge("createTime!=\"2026-11-21T12:00:00Z\"") == '-');
}

static void labels_are_asked_by_key(void)
{
    CHECK(judge("labels.team=red") == '+');
    CHECK(judge("labels.team=\"blue\"") == '-');
    CHECK(judge("labels.team:*") == '+');
    CHECK(judge("labels.team:\"r*\"") == '+');
    CHECK(judge("labels.host:*") == '-');
    CHECK(judge("labels.empty:*") == '+');
    CHECK(judge("labels:team") == '+');
    CHECK(judge("labels:host") == '-');
    CHECK(judge("labels:*") == '+');
    CHECK(judge("NOT labels:*") == '-');
    CHECK(judge("labels.host!=x") == '+');
}

static void comparisons_are_joined(void)
{
    CHECK(judge("state=RUNNING AND labels.team=red") == '+');
    CHECK(judge("state=RUNNING AND labels.team=blue") == '-');
    CHECK(judge("state=FAILED OR labels.team=red") == '+');
    CHECK(judge("NOT state=RUNNING") == '-');
    CHECK(judge("-state=FAILED") == '+');
    CHECK(judge("NOT (state=FAILED OR labels.team=blue)") == '+');
    /* Google's language: OR is the tighter one. */
    CHECK(judge("state=FAILED AND state=FAILED OR state=RUNNING") == '-');
    CHECK(judge("(state=FAILED AND state=FAILED) OR state=RUNNING") == '+');
    CHECK(judge("state=RUNNING OR state=FAILED AND labels.team=blue") == '-');
}

static void a_wrong_filter_is_refused(void)
{
    static const char *const wrong[] = {"colour=\"red\"",
                                        "state",
                                        "state=",
                                        "state=\"FAILED",
                                        "state=\"FAILED\" AND",
                                        "state=\"FAILED\" AND ",
                                        "state=\"FAILED\" state=\"RUNNING\"",
                                        "= \"x\"",
                                        "state<RUNNING",
                                        "create_time:\"2026\"",
                                        "create_time=\"noon\"",
                                        "labels=red",
                                        "labels.team<red",
                                        "(state=RUNNING",
                                        "state=RUNNING)",
                                        "NOT",
                                        "AND state=RUNNING",
                                        "state=RUNNING OR",
                                        "()",
                                        "state.x=RUNNING"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (judge(wrong[i]) != '!')
            printf("# accepted: %s\n", wrong[i]);
        CHECK(judge(wrong[i]) == '!');
    }
}

static void a_filter_that_breaks_off_says_so(void)
{
    static const char *const broken[] = {"state=FAILED AND", "NOT", "((", "-"};
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const struct filter *filter;
        struct ht_error err = {0};
        CHECK(filter_read(arena, broken[i], fields, &filter, &err) ==
              HT_INVALID);
        CHECK_TEXT(err.text, "filter: ends where a field is expected");
    }
    arena_free(arena);
}

static void a_long_or_deep_filter_is_refused(void)
{
    struct text text = {0};
    text_puts(&text, "state=RUNNING");
    for (int i = 0; i < 31; i++)
        text_puts(&text, " OR state=RUNNING");
    CHECK(judge(text.data) == '+');
    text_puts(&text, " OR state=RUNNING");
    CHECK(judge(text.data) == '!');
    text_clear(&text);
    for (int i = 0; i < 1000; i++)
        text_puts(&text, "(");
    CHECK(judge(text.data) == '!');
    text_clear(&text);
    for (int i = 0; i < 1000; i++)
        text_puts(&text, "NOT ");
    CHECK(judge(text.data) == '!');
    text_free(&text);
}

int main(void)
{
    RUN(without_a_filter_everything_is_wanted);
    RUN(texts_are_compared);
    RUN(names_of_an_enumeration_are_compared);
    RUN(a_name_that_does_not_exist_is_told);
    RUN(a_star_stands_for_any_characters);
    RUN(times_are_compared_as_times);
    RUN(labels_are_asked_by_key);
    RUN(comparisons_are_joined);
    RUN(a_wrong_filter_is_refused);
    RUN(a_filter_that_breaks_off_says_so);
    RUN(a_long_or_deep_filter_is_refused);
    return check_done();
}
