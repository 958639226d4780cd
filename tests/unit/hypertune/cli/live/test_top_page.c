#include "hypertune/cli/live/top_page.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "hypertune/cli/frame/spark.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/study.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"
#include "tests/check.h"

static const char server_json[] =
    "{\"server\":{\"version\":\"1\"},"
    "\"runners\":[{\"runner\":\"r\\u001b7\",\"engine\":\"process\",\"host\":"
    "\"h\","
    "\"state\":\"ONLINE\",\"slots\":4,\"busy\":2},"
    "{\"runner\":\"gone\",\"engine\":\"docker\",\"host\":\"h\","
    "\"state\":\"LOST\",\"slots\":8,\"busy\":0}],"
    "\"studies\":[{\"name\":\"p/1\",\"maxTrialCount\":6,\"studySpec\":{"
    "\"metrics\":[{\"metricId\":\"acc\\u001b[1m\"}]},\"hypertuneStatus\":{"
    "\"name\":\"b\\u001b[2J\\nx\",\"kind\":\"TUNING\",\"state\":\"SUCCEEDED\","
    "\"counts\":{\"succeeded\":3,\"failed\":3},"
    "\"failures\":{\"mostly\":true,\"words\":\"3 of 6 failed\"},"
    "\"best\":{\"id\":\"3\",\"hypertune\":{\"objective\":0.5}}}},"
    "{\"name\":\"p/2\",\"maxTrialCount\":6,\"studySpec\":{\"metrics\":["
    "{\"metricId\":\"acc\"}]},\"hypertuneStatus\":{\"name\":\"c\","
    "\"kind\":\"TUNING\",\"state\":\"RUNNING\",\"startTimeMs\":1000,"
    "\"counts\":{\"succeeded\":3,\"active\":2}}},"
    "{\"name\":\"p/3\",\"maxTrialCount\":4,\"studySpec\":{\"metrics\":["
    "{\"metricId\":\"acc\"}]},\"hypertuneStatus\":{\"name\":\"a\","
    "\"kind\":\"TUNING\",\"state\":\"RUNNING\",\"startTimeMs\":6000,"
    "\"counts\":{\"succeeded\":1,\"failed\":1}}}]}";

static struct cli_study studies[3];
static struct overview_trial trials[] = {
    {.name = "c/1", .runner = "r\0337", .metric = "", .step = "", .value = NAN},
    {.name = "c/2",
     .runner = "r\0337",
     .metric = "acc",
     .step = "7",
     .value = 0.25}};
static struct overview overview = {.asked_ms = 10000,
                                   .n_studies = 3,
                                   .n_trials = 2,
                                   .studies = studies,
                                   .trials = trials};

static void read_overview(struct arena *arena)
{
    struct diag diag;
    size_t n = 0;
    diag_init(&diag, arena, "test", server_json, sizeof server_json - 1);
    const struct node *root =
        node_read_json(arena, server_json, sizeof server_json - 1, &diag);
    overview.server = node_find(root, "server");
    overview.runners = node_find(root, "runners");
    NODE_EACH (study, node_first(root, "studies"))
        cli_study_read(study, &studies[n++]);
}

static void every_picture_fits_its_terminal(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct top_look look = {.url = "http://h", .order = "state"};
    for (look.height = 2; look.height < 30; look.height++) {
        for (look.width = 20; look.width < 120; look.width += 9) {
            size_t lines = top_page_print(arena, &overview, &look, &out);
            size_t seen = 0;
            CHECK(strchr(out.data, '\033') == NULL);
            for (char *line = out.data, *end;
                 (end = strchr(line, '\n')) != NULL; line = end + 1, seen++)
                CHECK((size_t)(end - line) < look.width);
            CHECK(seen == lines && lines < look.height);
            text_clear(&out);
        }
    }
    text_free(&out);
    arena_free(arena);
}

static void a_runner_stands_in_the_row_of_its_first_trial(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    table_print(top_page_runners(arena, &overview, 9), 0, &out);
    CHECK_TEXT(out.data,
               "RUNNER  ENGINE   HOST  BUSY  TRIAL  TIME  STEP  NEWEST\n"
               "r\\x1b7  process  h      2/4  c/1    -           -\n"
               "                             c/2    -        7  acc=0.25\n"
               "gone    docker   h     LOST\n");
    text_free(&out);
    arena_free(arena);
}

static void a_narrow_page_tells_which_trial_it_is(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct overview_trial trial = {.name = "a-study-with-a-very-long-name/17",
                                   .runner = "gone",
                                   .metric = "",
                                   .step = ""};
    struct overview one = overview;
    one.n_studies = one.n_trials = 1;
    one.trials = &trial;
    const struct top_look look = {
        .url = "http://h", .order = "state", .width = 50, .height = 20};
    top_page_print(arena, &one, &look, &out);
    CHECK(strstr(out.data, "-name/17") != NULL);
    CHECK(strstr(out.data, "1 study: ") != NULL);
    text_free(&out);
    arena_free(arena);
}

static const char *order_of(const char *order, bool reversed)
{
    static char ids[8];
    overview_sort(&overview, order, reversed);
    for (size_t i = 0; i < overview.n_studies; i++)
        ids[i] = overview.studies[i].id[0];
    return ids;
}

static void orders_are_total_and_can_be_turned_round(void)
{
    CHECK_TEXT(order_of("state", false), "321");
    CHECK_TEXT(order_of("name", false), "312");
    CHECK_TEXT(order_of("trials", false), "123");
    CHECK_TEXT(order_of("running", false), "231");
    CHECK_TEXT(order_of("failed", false), "132");
    CHECK_TEXT(order_of("left", false), "321");
    CHECK_TEXT(order_of("age", false), "321");
    CHECK_TEXT(order_of("age", true), "123");
    CHECK_TEXT(order_of("running", true), "132");
}

static void slots_are_those_of_runners_that_are_there(void)
{
    int64_t busy;
    CHECK(overview_slots(overview.runners, &busy) == 4);
    CHECK(busy == 2);
}

static void runners_of_one_machine_share_its_slots(void)
{
    static const char text[] = "[{\"state\":\"ONLINE\",\"slots\":2,\"busy\":1,"
                               "\"rules\":{\"machine\":\"a\"}},"
                               "{\"state\":\"ONLINE\",\"slots\":8,\"busy\":3,"
                               "\"rules\":{\"machine\":\"b\"}},"
                               "{\"state\":\"LOST\",\"slots\":9,\"busy\":0,"
                               "\"rules\":{\"machine\":\"a\"}},"
                               "{\"state\":\"ONLINE\",\"slots\":3,\"busy\":2,"
                               "\"rules\":{\"machine\":\"a\"}}]";
    struct arena *arena = arena_new();
    struct diag diag;
    int64_t busy;
    diag_init(&diag, arena, "test", text, sizeof text - 1);
    const struct node *runners =
        node_read_json(arena, text, sizeof text - 1, &diag);
    CHECK(overview_slots(runners, &busy) == 11);
    CHECK(busy == 6);
    arena_free(arena);
}

static void curves_have_blocks_where_the_locale_has_them(void)
{
    const double rising[] = {1, 2, 3, NAN};
    struct text out = {0};
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return;
    spark_curve(rising, 4, &out);
    CHECK_TEXT(out.data, "▁▄▇?");
    text_clear(&out);
    CHECK(spark_history(rising, 3, true, 3, &out));
    CHECK_TEXT(out.data, "1 |▁▅█| 3");
    text_clear(&out);
    setlocale(LC_CTYPE, "C");
    spark_curve(rising, 4, &out);
    CHECK_TEXT(out.data, "_=#?");
    text_free(&out);
}

int main(void)
{
    struct arena *arena = arena_new();
    read_overview(arena);
    RUN(every_picture_fits_its_terminal);
    RUN(a_runner_stands_in_the_row_of_its_first_trial);
    RUN(a_narrow_page_tells_which_trial_it_is);
    RUN(orders_are_total_and_can_be_turned_round);
    RUN(slots_are_those_of_runners_that_are_there);
    RUN(runners_of_one_machine_share_its_slots);
    RUN(curves_have_blocks_where_the_locale_has_them);
    arena_free(arena);
    return check_done();
}
