#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/page.h"
#include "hypertune/cli/frame/spark.h"
#include "hypertune/cli/live/picture.h"
#include "hypertune/cli/study/filter.h"
#include "hypertune/cli/study/trial.h"

#include <math.h>

#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "tests/check.h"

static const struct node *parse(struct arena *arena, const char *json)
{
    struct diag diag;
    diag_init(&diag, arena, "test", json, strlen(json));
    return node_read_json(arena, json, strlen(json), &diag);
}

static void yaml_reads_back_as_the_same_tree(void)
{
    static const char json[] =
        "{\"a\":1,\"b\":[1,\"two\",{\"c\":null,\"d\":[]}],\"e\":{},"
        "\"f\":\"yes\",\"g\":\"1.5\",\"h\":\"a: b\",\"i\":{\"j\":true},"
        "\"k\":\"line\\nbreak\",\"l\":[[1,2],[3]],"
        "\"a\\u202e\":\"\\u2066b\\u200e\\u007f\"}";
    struct arena *arena = arena_new();
    struct text yaml = {0}, again = {0};
    struct diag diag;
    node_write_yaml(parse(arena, json), &yaml);
    diag_init(&diag, arena, "yaml", yaml.data, yaml.len);
    const struct node *back = node_read_yaml(arena, yaml.data, yaml.len, &diag);
    CHECK(back != NULL);
    if (back != NULL)
        json_print(json_of_node(back), &again);
    CHECK_TEXT(again.data, json);
    CHECK(strstr(yaml.data, "\"a\\u202e\": \"\\u2066b\\u200e\\u007f\"\n"));
    text_free(&yaml);
    text_free(&again);
    arena_free(arena);
}

static const char trial_json[] =
    "{\"id\":\"4\",\"hypertune\":{\"state\":\"SUCCEEDED\",\"objective\":0.93,"
    "\"step\":\"20\",\"params\":{\"lr\":0.01,\"opt\":\"adam\"}}}";

static bool matches(struct arena *arena, const char *where)
{
    struct cli_filter *filter;
    if (cli_filter_read(arena, where, "accuracy", &filter, NULL) != HT_OK)
        return false;
    return cli_filter_match(filter, parse(arena, trial_json));
}

static void conditions_compare_numbers_and_names(void)
{
    struct arena *arena = arena_new();
    CHECK(matches(arena, "lr<0.1 opt=adam"));
    CHECK(matches(arena, "lr=1e-2"));
    CHECK(matches(arena, "accuracy>=0.93 objective<=0.93"));
    CHECK(matches(arena, "opt!=sgd step>3 state=succeeded"));
    CHECK(!matches(arena, "lr>0.1"));
    CHECK(!matches(arena, "lr<0.1 opt=sgd"));
    CHECK(!matches(arena, "absent=1"));
    CHECK(!matches(arena, "absent!=1"));
    arena_free(arena);
}

static void wrong_conditions_are_refused(void)
{
    static const char *const wrong[] = {"lr", "=1", "lr=", "lr~1", "lr!1"};
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct cli_filter *filter;
        CHECK(cli_filter_read(arena, wrong[i], "m", &filter, NULL) ==
              HT_INVALID);
    }
    arena_free(arena);
}

static void sorting_puts_absent_values_last(void)
{
    struct arena *arena = arena_new();
    const struct node *trials[] = {
        parse(arena, "{\"id\":\"1\",\"hypertune\":{}}"),
        parse(arena, "{\"id\":\"2\",\"hypertune\":{\"objective\":9}}"),
        parse(arena, "{\"id\":\"10\",\"hypertune\":{\"objective\":10}}"),
        parse(arena, "{\"id\":\"3\",\"hypertune\":{\"objective\":9}}")};
    const char *order[4];
    cli_filter_sort(arena, trials, 4, "loss", "-loss");
    for (size_t i = 0; i < 4; i++)
        order[i] = cli_trial_id(trials[i]);
    CHECK_TEXT(order[0], "10");
    CHECK_TEXT(order[1], "2");
    CHECK_TEXT(order[2], "3");
    CHECK_TEXT(order[3], "1");
    cli_filter_sort(arena, trials, 4, "loss", "objective");
    CHECK_TEXT(cli_trial_id(trials[0]), "2");
    CHECK_TEXT(cli_trial_id(trials[3]), "1");
    arena_free(arena);
}

static void curves_span_their_own_range(void)
{
    struct text out = {0};
    const double rising[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
    spark_curve(rising, 7, &out);
    CHECK_TEXT(out.data, "_.-=+*#");
    text_clear(&out);
    const double flat[] = {5, 5, NAN, INFINITY};
    spark_curve(flat, 4, &out);
    CHECK_TEXT(out.data, "==??");
    text_free(&out);
}

static void bars_are_filled_in_proportion(void)
{
    struct text out = {0};
    spark_bar(3, 4, 8, &out);
    CHECK_TEXT(out.data, "######..");
    text_clear(&out);
    spark_bar(9, 4, 4, &out);
    CHECK_TEXT(out.data, "####");
    text_clear(&out);
    spark_bar(0, 0, 4, &out);
    CHECK_TEXT(out.data, "....");
    text_free(&out);
}

static void frames_fit_the_terminal(void)
{
    struct arena *arena = arena_new();
    struct cli_study study;
    cli_study_read(
        parse(arena,
              "{\"name\":\"projects/p/locations/l/hyperparameterTuningJobs/7\","
              "\"maxTrialCount\":4,\"studySpec\":{\"metrics\":[{\"metricId\":"
              "\"acc\",\"goal\":\"MAXIMIZE\"}]},\"hypertuneStatus\":{\"name\":"
              "\"a\\u001b[2Jb\",\"state\":\"RUNNING\",\"counts\":{\"active\":1,"
              "\"succeeded\":2}}}"),
        &study);
    CHECK_TEXT(study.id, "7");
    struct frame_slot slot = {.id = "3", .value = NAN};
    struct frame frame = {
        .width = 40, .height = 24, .n_slots = 1, .running = &slot};
    struct text out = {0};
    for (frame.height = 2; frame.height < 24; frame.height++) {
        size_t lines = cli_frame_print(&frame, &study, &out), seen = 0;
        CHECK(strchr(out.data, '\033') == NULL);
        for (char *line = out.data, *end; (end = strchr(line, '\n')) != NULL;
             line = end + 1, seen++)
            CHECK(end - line < 40);
        CHECK(seen == lines && lines < frame.height);
        text_clear(&out);
    }
    text_free(&out);
    arena_free(arena);
}

static void a_long_reason_goes_on_below_itself(void)
{
    char line[] = "why    paused, as the first three trials ended without it";
    struct text out = {0};
    struct page page = {.width = 24, .height = 9, .out = &out};
    text_puts(&page.line, "why    ");
    page_wrap(&page, line + 7, 3);
    CHECK_TEXT(out.data, "why    paused, as the\n"
                         "       first three\n"
                         "       trials ended wi~\n");
    text_clear(&out);
    text_puts(&page.line, "why    ");
    page_wrap(&page, "unbrokenandlongerthantheline", 3);
    text_puts(&page.line, "why    ");
    page_wrap(&page, "short", 3);
    CHECK_TEXT(out.data, "why    unbrokenandlong~\nwhy    short\n");
    CHECK(page.lines == 5);
    text_free(&out);
    page_fini(&page);
}

static void the_history_shows_how_the_best_grew(void)
{
    struct text out = {0};
    const double rising[] = {0.5, NAN, 0.4, 0.75, 0.6, 0.9, 0.1, 0.9};
    CHECK(spark_history(rising, 8, true, 8, &out));
    CHECK_TEXT(out.data, "0.5 |___--'''| 0.9");
    text_clear(&out);
    const double falling[] = {NAN, 4, 3, 5, 2};
    CHECK(spark_history(falling, 5, false, 5, &out));
    CHECK_TEXT(out.data, "4 | '--_| 2");
    text_clear(&out);
    CHECK(!spark_history(falling, 2, false, 5, &out));
    CHECK(out.len == 0);
    text_free(&out);
}

static void long_names_become_brief_unless_two_are_alike(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    cli_trial_brief(parse(arena, "{\"learning_rate\":0.0011234,\"batchSize\":"
                                 "128,\"dropout\":0.2,\"opt\":\"adam\"}"),
                    &out);
    CHECK_TEXT(out.data, "lr=0.001123 bs=128 dr=0.2 opt=adam");
    text_clear(&out);
    cli_trial_brief(parse(arena, "{\"learning_rate\":1,\"label_ratio\":2}"),
                    &out);
    CHECK_TEXT(out.data, "learning_rate=1 label_ratio=2");
    text_free(&out);
    arena_free(arena);
}

static void flags_to_look_at_are_short_and_harmless(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    const struct node *trial = parse(
        arena, "{\"hypertune\":{\"params\":{\"lr\":0.0070837832552,\"n\":"
               "1234567890,\"opt\":\"a b\\u001b[2J\",\"to\":\"\\u202ex\"}}}");
    cli_trial_flags(trial, &out);
    CHECK_TEXT(out.data, "--lr=0.00708378 --n=1234567890 "
                         "'--opt=a b\\x1b[2J' '--to=\\u202ex'");
    text_free(&out);
    arena_free(arena);
}

static void the_shipped_grammar_is_described(void)
{
    struct text out = {0};
    cli_help_spec(&out);
    CHECK(strstr(out.data, "\n  parameters ") != NULL);
    CHECK(strstr(out.data, "\n  spec              (1) ") != NULL);
    CHECK(strstr(out.data, "(string|number|boolean)") != NULL);
    CHECK(strstr(out.data, "\n    noProgress ") != NULL);
    text_free(&out);
}

int main(void)
{
    json_init();
    RUN(yaml_reads_back_as_the_same_tree);
    RUN(conditions_compare_numbers_and_names);
    RUN(wrong_conditions_are_refused);
    RUN(sorting_puts_absent_values_last);
    RUN(curves_span_their_own_range);
    RUN(bars_are_filled_in_proportion);
    RUN(frames_fit_the_terminal);
    RUN(a_long_reason_goes_on_below_itself);
    RUN(the_history_shows_how_the_best_grew);
    RUN(long_names_become_brief_unless_two_are_alike);
    RUN(flags_to_look_at_are_short_and_harmless);
    RUN(the_shipped_grammar_is_described);
    return check_done();
}
