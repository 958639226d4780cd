/* Records: our own lines, and cloudml-hypertune's. */
#include <math.h>

#include "proto/base/limits.h"
#include "proto/job/report.h"
#include "tests/check.h"

static struct arena *arena;

static enum ht_status parse(const char *line, struct report *report,
                            struct ht_error *err)
{
    return report_parse(arena, line, strlen(line), report, err);
}

static void the_documented_line_is_written_and_read(void)
{
    static const char line[] =
        "{\"w\":\"9f86d081884c7d65\",\"n\":3,\"t\":1795231102098,\"s\":4,"
        "\"m\":{\"accuracy\":0.93},\"c\":\"\"}";
    struct report report;
    CHECK(parse(line, &report, NULL) == HT_OK);
    CHECK(report.writer == 0x9f86d081884c7d65);
    CHECK(report.seq == 3 && report.step == 4 && report.has_step);
    CHECK(report.time_ms == 1795231102098);
    CHECK(report.n_metrics == 1 && report.metrics[0].value == 0.93);
    struct text text = {0};
    report_text(&report, &text);
    CHECK_TEXT(text.data, line);
    text_free(&text);
}

static void values_survive_bit_by_bit(void)
{
    struct report_metric metrics[] = {
        {"a", 0.1 + 0.2}, {"b", -INFINITY}, {"c", NAN}, {"d", 5e-324}};
    struct report report = {.writer = 1,
                            .seq = INT64_MAX,
                            .time_ms = -5,
                            .checkpoint = "ckpt \"1\"",
                            .n_metrics = 4,
                            .metrics = metrics};
    struct text text = {0};
    report_text(&report, &text);
    struct report back;
    CHECK(parse(text.data, &back, NULL) == HT_OK);
    CHECK(back.seq == INT64_MAX && back.time_ms == -5 && !back.has_step);
    CHECK_TEXT(back.checkpoint, "ckpt \"1\"");
    CHECK(back.metrics[0].value == 0.1 + 0.2);
    CHECK(back.metrics[1].value == -INFINITY);
    CHECK(isnan(back.metrics[2].value));
    CHECK(back.metrics[3].value == 5e-324);
    text_free(&text);
}

#define HEAD "{\"w\":\"0000000000000001\",\"n\":1,\"t\":1,"

static void wrong_records_are_refused_with_the_member(void)
{
    static const struct {
        const char *line, *why;
    } wrong[] = {
        {"", "record: "},
        {"[1]", "not an object"},
        {HEAD "\"m\":{\"a\":1}", "record: "},
        {HEAD "\"m\":{\"a\":1}} x", "record: "},
        {HEAD "\"m\":{}}", "1 to 16 metrics"},
        {HEAD "\"c\":\"\"}", "1 to 16 metrics"},
        {HEAD "\"m\":{\"a\":true}}", "metric a is no number"},
        {HEAD "\"m\":{\"a\":\"nan\"}}", "metric a is no number"},
        {HEAD "\"m\":{\"a\":1e999}}", "metric a is no number"},
        {HEAD "\"m\":{\"\":1}}", "a metric's name"},
        {HEAD "\"m\":{\"a\\u0007\":1}}", "a metric's name"},
        {HEAD "\"s\":1.5,\"m\":{\"a\":1}}", "\"s\" needs an integer"},
        {HEAD "\"m\":{\"a\":1},\"c\":3}", "\"c\" must be a text"},
        {"{\"w\":\"12\",\"n\":1,\"t\":1,\"m\":{\"a\":1}}", "16 hex digits"},
        {"{\"w\":\"0000000000000001\",\"n\":0,\"t\":1,\"m\":{\"a\":1}}",
         "\"n\" needs an integer >= 1"},
        {"{\"w\":\"0000000000000001\",\"n\":1,\"m\":{\"a\":1}}",
         "\"t\" needs milliseconds"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct report report = {.seq = 77};
        struct ht_error err = {0};
        CHECK(parse(wrong[i].line, &report, &err) == HT_INVALID);
        if (strstr(err.text, wrong[i].why) == NULL)
            CHECK_TEXT(err.text, wrong[i].why);
        CHECK(report.seq == 77);
    }
}

static void limits_hold_at_the_edge(void)
{
    struct text text = {0};
    struct report report;
    for (int extra = 0; extra <= 1; extra++) {
        text_clear(&text);
        text_printf(&text, HEAD "\"m\":{\"a\":1},\"c\":\"%0*d\"}",
                    HT_MAX_CHECKPOINT + extra, 0);
        CHECK((parse(text.data, &report, NULL) == HT_OK) == (extra == 0));
        text_clear(&text);
        text_printf(&text, HEAD "\"m\":{\"%0*d\":1}}", HT_MAX_NAME + extra, 0);
        CHECK((parse(text.data, &report, NULL) == HT_OK) == (extra == 0));
        text_clear(&text);
        text_puts(&text, HEAD "\"m\":{\"m\":1");
        for (int i = 1; i < HT_MAX_METRICS + extra; i++)
            text_printf(&text, ",\"m%d\":1", i);
        text_puts(&text, "}}");
        CHECK((parse(text.data, &report, NULL) == HT_OK) == (extra == 0));
    }
    text_clear(&text);
    text_printf(&text, HEAD "\"m\":{\"a\":1}%*s}", HT_MAX_REPORT_LINE, "");
    CHECK(parse(text.data, &report, NULL) == HT_INVALID);
    text_free(&text);
}

static enum ht_status foreign(const char *line, const char *name,
                              struct report *report)
{
    const char *const names[] = {name};
    return report_parse_foreign(arena, line, strlen(line), 1, names, report,
                                NULL);
}

static void a_line_of_cloudml_hypertune_is_read(void)
{
    struct report report;
    CHECK(foreign("{\"acc\": \"0.1\", \"checkpoint_path\": \"gs://b\", "
                  "\"global_step\": \"12\", \"timestamp\": 1795231102.098479, "
                  "\"trial\": \"7\"}\n",
                  "acc", &report) == HT_OK);
    CHECK(report.writer == 0 && report.seq >= 1);
    CHECK(report.has_step && report.step == 12);
    CHECK(report.time_ms == 1795231102098);
    CHECK_TEXT(report.metrics[0].name, "acc");
    CHECK(report.n_metrics == 1 && report.metrics[0].value == 0.1);
    CHECK_TEXT(report.checkpoint, "gs://b");
}

#define TAIL                                                                   \
    "\"checkpoint_path\": \"\", \"global_step\": \"0\", "                      \
    "\"timestamp\": 1.5, "

static void the_metric_is_found_by_name_first(void)
{
    struct report report;
    /* Named trial: it took the place of the trial's id. */
    CHECK(foreign("{" TAIL "\"trial\": \"0.25\"}", "trial", &report) == HT_OK);
    CHECK(report.metrics[0].value == 0.25);
    /* The same study, another metric: trial is the id again. */
    CHECK(foreign("{\"loss\": \"2.0\", " TAIL "\"trial\": \"7\"}", "trial",
                  &report) == HT_OK);
    CHECK_TEXT(report.metrics[0].name, "loss");
    CHECK(foreign("{\"training/hptuning/metric\": \"1e-07\", " TAIL
                  "\"trial\": \"7\"}",
                  "accuracy", &report) == HT_OK);
    CHECK_TEXT(report.metrics[0].name, "training/hptuning/metric");
    CHECK(foreign("{" TAIL "\"trial\": \"7\"}", "acc", &report) == HT_INVALID);
    CHECK(foreign("{\"a\": \"1\", \"b\": \"2\", " TAIL "\"trial\": \"7\"}",
                  "acc", &report) == HT_INVALID);
    CHECK(foreign("{\"a\": \"1\", \"b\": \"2\", " TAIL "\"trial\": \"7\"}", "b",
                  &report) == HT_OK);
    CHECK(report.metrics[0].value == 2);
}

static void python_spells_its_infinities(void)
{
    struct report report;
    CHECK(foreign("{\"a\": \"nan\", " TAIL "\"trial\": \"7\"}", "a", &report) ==
          HT_OK);
    CHECK(isnan(report.metrics[0].value));
    CHECK(foreign("{\"a\": \"-inf\", " TAIL "\"trial\": \"7\"}", "a",
                  &report) == HT_OK);
    CHECK(report.metrics[0].value == -INFINITY);
    CHECK(foreign("{\"a\": \"high\", " TAIL "\"trial\": \"7\"}", "a",
                  &report) == HT_INVALID);
}

static void torn_lines_are_refused_and_lines_have_stable_keys(void)
{
    static const char line[] = "{\"a\": \"1.0\", " TAIL "\"trial\": \"7\"}";
    struct report one, two, other;
    CHECK(foreign(line, "a", &one) == HT_OK);
    CHECK(foreign("{\"a\": \"1.0\", " TAIL "\"trial\": \"7\"}\r\n", "a",
                  &two) == HT_OK);
    CHECK(one.seq == two.seq);
    CHECK(foreign("{\"a\": \"1.5\", " TAIL "\"trial\": \"7\"}", "a", &other) ==
          HT_OK);
    CHECK(one.seq != other.seq);
    for (size_t len = 0; len + 1 < sizeof line; len++) {
        struct report report;
        const char *const names[] = {"a"};
        CHECK(report_parse_foreign(arena, line, len, 1, names, &report, NULL) ==
              HT_INVALID);
    }
}

int main(void)
{
    arena = arena_new();
    RUN(the_documented_line_is_written_and_read);
    RUN(values_survive_bit_by_bit);
    RUN(wrong_records_are_refused_with_the_member);
    RUN(limits_hold_at_the_edge);
    RUN(a_line_of_cloudml_hypertune_is_read);
    RUN(the_metric_is_found_by_name_first);
    RUN(python_spells_its_infinities);
    RUN(torn_lines_are_refused_and_lines_have_stable_keys);
    arena_free(arena);
    return check_done();
}
