/* The language of log entries. */
#include <stdint.h>
#include <string.h>

#include "proto/base/text.h"
#include "tests/check.h"
#include "tuner/ask/filter.h"

static const char *const ranks[] = {"DEFAULT", "INFO", "WARNING", "ERROR",
                                    NULL};
static const struct filter_field fields[] = {
    {"timestamp", FILTER_TIME, NULL},
    {"insertId", FILTER_PHRASE, NULL},
    {"severity", FILTER_RANK, ranks},
    {"logName", FILTER_PHRASE, NULL},
    {"textPayload", FILTER_PHRASE, NULL},
    {"jsonPayload", FILTER_PHRASES, NULL},
    {"resource.type", FILTER_PHRASE, NULL},
    {"labels", FILTER_PHRASES, NULL},
    {"resource.labels", FILTER_PHRASES, NULL},
    {NULL, FILTER_PHRASE, NULL}};
static const struct filter_field message = {"the message", FILTER_PHRASE, NULL};
static const struct filter_language language = {fields, &message};

static bool knows_text;

/* A warning of 12:00:00.5 that says "Loss is NaN at step 30". */
static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    static const struct {
        const char *field, *key, *value;
    } all[] = {{"timestamp", NULL, "2026-11-21T12:00:00.500000000Z"},
               {"insertId", NULL, "0042"},
               {"severity", NULL, "WARNING"},
               {"logName", NULL, "projects/p/logs/master-replica-0"},
               {"textPayload", NULL, "Loss is NaN at step 30"},
               {"the message", NULL, "Loss is NaN at step 30"},
               {"resource.type", NULL, "ml_job"},
               {"resource.labels", "job_id", "digits"},
               {"labels", "ml.googleapis.com/trial_id", "3"}};
    (void)item;
    const bool is_text = strcmp(field, "textPayload") == 0 ||
                         strcmp(field, "the message") == 0 ||
                         strcmp(field, "jsonPayload") == 0;
    if (is_text && !knows_text)
        return FILTER_UNKNOWN;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].field, field) != 0 ||
            (all[i].key != NULL && !filter_key_is(key, all[i].key)))
            continue;
        values[0] = all[i].value;
        return 1;
    }
    return 0;
}

/* '+' wanted, '-' not wanted, '!' refused; before the text is known '?' where
 * it decides. */
static char judge_when(const char *text, bool known)
{
    struct arena *arena = arena_new();
    const struct filter *filter;
    char verdict = '!';
    knows_text = known;
    if (filter_read_log(arena, text, &language, &filter, NULL) == HT_OK) {
        verdict = filter_allows(filter, look_up, NULL)      ? '+'
                  : filter_may_allow(filter, look_up, NULL) ? '?'
                                                            : '-';
    }
    arena_free(arena);
    return verdict;
}

static char judge(const char *text)
{
    return judge_when(text, true);
}

static void what_gcloud_asks_is_understood(void)
{
    CHECK(judge("(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") "
                "AND resource.labels.job_id=\"digits\" AND "
                "timestamp>=\"1970-01-01T01:00:00.000000000Z\" AND "
                "timestamp<\"2026-11-21T12:00:33.146440Z\"") == '+');
    CHECK(judge("resource.type=\"ml_job\" AND ((timestamp=\"2026-11-21T12:00:"
                "00.500000000Z\" AND insertId>\"0041\") OR "
                "timestamp>\"2026-11-21T12:00:00.500000000Z\")") == '+');
    CHECK(judge("((timestamp=\"2026-11-21T12:00:00.500000000Z\" AND "
                "insertId>\"0042\") OR timestamp>"
                "\"2026-11-21T12:00:00.500000000Z\")") == '-');
    CHECK(
        judge("(resource.labels.task_name=\"T\" OR labels.task_name=\"T\")") ==
        '-');
}

static void times_are_compared_to_the_nanosecond(void)
{
    CHECK(judge("timestamp<\"2026-11-21T12:00:00.500000001Z\"") == '+');
    CHECK(judge("timestamp<\"2026-11-21T12:00:00.500000000Z\"") == '-');
    CHECK(judge("timestamp>=2026-11-21") == '+');
    CHECK(judge("timestamp>=\"2026-11-22\"") == '-');
    CHECK(judge("timestamp>\"0001-01-01T00:00:00Z\"") == '+');
    CHECK(judge("timestamp>\"9999-01-01T00:00:00Z\"") == '-');
}

static void phrases_are_compared_without_case(void)
{
    CHECK(judge("resource.labels.job_id=DIGITS") == '+');
    CHECK(judge("textPayload:nan") == '+');
    CHECK(judge("text_payload:\"is NAN at\"") == '+');
    CHECK(judge("textPayload=\"Loss\"") == '-');
    CHECK(judge("textPayload!=\"Loss\"") == '+');
    CHECK(judge("textPayload:*") == '+');
    CHECK(judge("jsonPayload.message:*") == '-');
    CHECK(judge("-jsonPayload.message:*") == '+');
    CHECK(judge("insertId<\"0043\" insertId>=\"0042\"") == '+');
    CHECK(judge("insertId<9") == '+');
}

static void numbers_of_maps_are_compared_as_such(void)
{
    static const char trial[] = "labels.\"ml.googleapis.com/trial_id\"";
    const struct {
        const char *said;
        char answer;
    } all[] = {{"<10", '+'},   {">10", '-'},    {">=3e0", '+'},
               {"<=2.5", '-'}, {"<\"x\"", '+'}, {">nan", '-'}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct text text = {0};
        text_printf(&text, "%s%s", trial, all[i].said);
        CHECK(judge(text.data) == all[i].answer);
        text_free(&text);
    }
}

static void severities_have_an_order(void)
{
    CHECK(judge("severity>=WARNING") == '+');
    CHECK(judge("severity>=\"warning\"") == '+');
    CHECK(judge("severity>WARNING") == '-');
    CHECK(judge("severity<ERROR") == '+');
    CHECK(judge("severity!=ERROR") == '+');
    CHECK(judge("severity=LOUD") == '!');
    CHECK(judge("severity:WARN") == '!');
}

static void functions_are_refused(void)
{
    CHECK(judge("log_id(\"service\")") == '!');
    CHECK(judge("loss AND NOT sample(insertId, 0.5)") == '!');
    CHECK(judge("NOT(loss)") == '-');
    CHECK(judge("loss (step)") == '+');
    CHECK(judge("\"sample(\"") == '-');
}

static void keys_may_be_quoted(void)
{
    CHECK(judge("labels.\"ml.googleapis.com/trial_id\"=\"3\"") == '+');
    CHECK(judge("labels.\"ml.googleapis.com/trial_id\"=(\"2\" OR \"3\")") ==
          '+');
    CHECK(judge("labels:\"ml.googleapis.com/trial_id\"") == '+');
    CHECK(judge("labels:*") == '+');
    CHECK(judge("jsonPayload:*") == '-');
    CHECK(judge("labels.\"ml.googleapis.com/trial_id=3") == '!');
}

static void expressions_are_matched(void)
{
    CHECK(judge("textPayload=~\"^Loss .*[0-9]+$\"") == '+');
    CHECK(judge("textPayload=~\"^loss\"") == '-');
    CHECK(judge("textPayload!~\"^loss\"") == '+');
    CHECK(judge("textPayload=~\"step \\\\w+\"") == '+');
    CHECK(judge("textPayload=~\"(\"") == '!');
    CHECK(judge("textPayload=~\"\\\\d$\"") == '+');
    CHECK(judge("textPayload=~\"(?i)^loss\"") == '+');
    CHECK(judge("textPayload=~\"(\" OR textPayload=~\"b\"") == '!');
    CHECK(judge("timestamp=~\"2026\"") == '!');
    struct text text = {0};
    text_puts(&text, "textPayload=~\"");
    for (int i = 0; i < 256; i++)
        text_puts(&text, "a");
    CHECK(judge(text.data) == '!'); /* its quotes do not end */
    text_puts(&text, "\"");
    CHECK(judge(text.data) == '-');
    text.data[text.len - 1] = 'a';
    text_puts(&text, "\"");
    CHECK(judge(text.data) == '!');
    text_free(&text);
}

static void lists_of_values_are_alternatives(void)
{
    CHECK(judge("resource.labels.job_id=(\"faces\" OR \"digits\")") == '+');
    CHECK(judge("resource.labels.job_id=(faces OR \"houses\")") == '-');
    CHECK(judge("textPayload:(inf OR nan)") == '+');
    CHECK(judge("severity=(ERROR OR WARNING)") == '+');
    CHECK(judge("resource.labels.job_id=(a b)") == '!');
    CHECK(judge("resource.labels.job_id=(a OR b") == '!');
    CHECK(judge("resource.labels.job_id=()") == '!');
    CHECK(judge("resource.labels.job_id!=(a OR b)") == '!');
}

static void values_alone_are_searched_in_the_message(void)
{
    CHECK(judge("nan") == '+');
    CHECK(judge("\"step 30\"") == '+');
    CHECK(judge("\"step 31\"") == '-');
    CHECK(judge("nan step") == '+');
    CHECK(judge("nan OR inf") == '+');
    CHECK(judge("nan NOT loss") == '-');
    CHECK(judge("-inf") == '+');
    CHECK(judge("severity=WARNING (\"inf\" OR \"nan\")") == '+');
    CHECK(judge("master-replica-0") == '-'); /* not in the log's name */
}

static void what_stands_side_by_side_is_joined_by_and(void)
{
    CHECK(judge("severity=WARNING\nresource.type=ml_job") == '+');
    CHECK(judge("severity=WARNING\nresource.type=vm") == '-');
    CHECK(judge("severity=ERROR OR severity=WARNING resource.type=vm") == '-');
    CHECK(judge("severity=WARNING -- loud ones\n\"nan\" -- and lost") == '+');
    CHECK(judge("-- nothing") == '+');
}

static void a_wrong_filter_is_refused(void)
{
    static const char *const wrong[] = {"colour=\"red\"",
                                        "severity=",
                                        "AND nan",
                                        "nan AND",
                                        "nan OR",
                                        "NOT",
                                        "(nan",
                                        "nan)",
                                        "()",
                                        "\"nan",
                                        "labels=x",
                                        "labels<x",
                                        ":x",
                                        "NOT NOT x",
                                        "resource.zone=x",
                                        "timestamp:2026",
                                        "timestamp=noon"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (judge(wrong[i]) != '!')
            printf("# accepted: %s\n", wrong[i]);
        CHECK(judge(wrong[i]) == '!');
    }
}

static void what_decides_without_the_text_is_told_before_it(void)
{
    CHECK(judge_when("nan", false) == '?');
    CHECK(judge_when("NOT nan", false) == '?');
    CHECK(judge_when("nan severity=WARNING", false) == '?');
    CHECK(judge_when("nan severity=ERROR", false) == '-');
    CHECK(judge_when("nan OR severity=WARNING", false) == '+');
    CHECK(judge_when("nan OR severity=ERROR", false) == '?');
    CHECK(judge_when("NOT (nan severity=ERROR)", false) == '+');
}

/* --- what a filter is bound to --- */

static struct filter_span span_of(const char *text)
{
    struct arena *arena = arena_new();
    const struct filter *filter = NULL;
    CHECK(filter_read_log(arena, text, &language, &filter, NULL) == HT_OK);
    const struct filter_span span = filter_times(filter, "timestamp");
    arena_free(arena);
    return span;
}

static bool is_span(const char *text, int64_t from_s, int64_t until_s)
{
    const struct filter_span span = span_of(text);
    const int64_t from = from_s < 0 ? INT64_MIN : from_s * INT64_C(1000000000);
    const int64_t until =
        until_s < 0 ? INT64_MAX : until_s * INT64_C(1000000000);
    return span.from_ns == from && span.until_ns == until;
}

#define AT(s) "\"1970-01-01T00:00:" s "Z\""

static void the_span_of_time_is_known(void)
{
    CHECK(is_span("", -1, -1));
    CHECK(is_span("nan", -1, -1));
    CHECK(is_span("timestamp>=" AT("05") " timestamp<" AT("09"), 5, 9));
    CHECK(is_span("timestamp>" AT("05") " nan timestamp>" AT("07"), 7, -1));
    CHECK(is_span("timestamp=" AT("05") " OR timestamp=" AT("08"), 5, 8));
    CHECK(is_span("timestamp=" AT("05") " OR nan", -1, -1));
    CHECK(is_span("NOT timestamp=" AT("05"), -1, -1));
    CHECK(is_span("timestamp!=" AT("05"), -1, -1));
    /* An alternative that cannot be says nothing. */
    CHECK(is_span(
        "(timestamp>" AT("09") " timestamp<" AT("05") ") OR "
                                                      "timestamp=" AT("03"),
        3, 3));
    const struct filter_span none =
        span_of("timestamp>" AT("09") " AND timestamp<" AT("05"));
    CHECK(none.from_ns > none.until_ns);
}

/* The values joined by blanks; "*" when there is no bound. */
static bool is_bound(const char *text, const char *wanted)
{
    struct arena *arena = arena_new();
    const struct filter *filter = NULL;
    static const char *const none[] = {"*"};
    struct strings values;
    struct text all = {0};
    CHECK(filter_read_log(arena, text, &language, &filter, NULL) == HT_OK);
    if (!filter_equals(arena, filter, "resource.labels", "job_id", &values))
        values = (struct strings){1, none};
    for (size_t i = 0; i < values.n; i++)
        text_printf(&all, "%s%s", i > 0 ? " " : "", values.items[i]);
    const bool is_same = strcmp(all.data, wanted) == 0;
    text_free(&all);
    arena_free(arena);
    return is_same;
}

static void the_values_it_is_bound_to_are_known(void)
{
    CHECK(is_bound("resource.labels.job_id=a severity=ERROR", "a"));
    CHECK(is_bound("severity=ERROR resource.labels.job_id=a", "a"));
    CHECK(is_bound("resource.labels.job_id=(a OR b OR c)", "a b c"));
    CHECK(is_bound("resource.labels.job_id=a OR severity=ERROR", "*"));
    CHECK(is_bound("resource.labels.job_id:a", "*"));
    CHECK(is_bound("resource.labels.job_id!=a", "*"));
    CHECK(is_bound("NOT resource.labels.job_id=a", "*"));
    CHECK(is_bound("resource.labels.zone=a", "*"));
    CHECK(is_bound("", "*"));
}

int main(void)
{
    RUN(what_gcloud_asks_is_understood);
    RUN(times_are_compared_to_the_nanosecond);
    RUN(phrases_are_compared_without_case);
    RUN(severities_have_an_order);
    RUN(numbers_of_maps_are_compared_as_such);
    RUN(functions_are_refused);
    RUN(keys_may_be_quoted);
    RUN(expressions_are_matched);
    RUN(lists_of_values_are_alternatives);
    RUN(values_alone_are_searched_in_the_message);
    RUN(what_stands_side_by_side_is_joined_by_and);
    RUN(a_wrong_filter_is_refused);
    RUN(what_decides_without_the_text_is_told_before_it);
    RUN(the_span_of_time_is_known);
    RUN(the_values_it_is_bound_to_are_known);
    return check_done();
}
