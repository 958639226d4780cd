#include "hypertune/cli/live/top_page.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "hypertune/cli/frame/page.h"
#include "hypertune/cli/frame/table.h"
#include "tests/check.h"

static struct overview_study studies[] = {
    {.name = "b\033[2J\nx",
     .id = "1",
     .kind = "tuning job",
     .state = "SUCCEEDED",
     .outcome = "SUCCEEDED, 3 of 4 failed",
     .reason = "",
     .metric = "acc\033[1m",
     .best_trial = "3",
     .front = "",
     .best = 0.5,
     .ended = 4,
     .limit = 4,
     .failed = 3,
     .left_ms = -1},
    {.name = "c",
     .id = "2",
     .kind = "tuning job",
     .state = "RUNNING",
     .outcome = "RUNNING",
     .reason = "",
     .metric = "acc",
     .front = "",
     .best = NAN,
     .ended = 1,
     .limit = 4,
     .running = 2,
     .left_ms = 9000},
    {.name = "a",
     .id = "3",
     .kind = "tuning job",
     .state = "RUNNING",
     .outcome = "RUNNING",
     .reason = "",
     .metric = "acc",
     .front = "",
     .best = NAN,
     .limit = 4,
     .failed = 1,
     .left_ms = 4000}};
static struct overview_runner runners[] = {{.id = "r\0337",
                                            .engine = "process",
                                            .host = "h",
                                            .state = "ONLINE",
                                            .slots = 4,
                                            .busy = 2,
                                            .online = true},
                                           {.id = "gone",
                                            .engine = "docker",
                                            .host = "h",
                                            .state = "LOST",
                                            .slots = 8}};
static struct overview_trial trials[] = {
    {.name = "c/1", .runner = "r\0337", .metric = "", .step = "", .value = NAN},
    {.name = "c/2",
     .runner = "r\0337",
     .metric = "acc",
     .step = "7",
     .value = 0.25}};
static struct overview overview = {.version = "1",
                                   .read_only = "",
                                   .n_studies = 3,
                                   .n_runners = 2,
                                   .n_trials = 2,
                                   .studies = studies,
                                   .runners = runners,
                                   .trials = trials};

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
    CHECK(overview_slots(&overview, &busy) == 4);
    CHECK(busy == 2);
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
    RUN(every_picture_fits_its_terminal);
    RUN(a_runner_stands_in_the_row_of_its_first_trial);
    RUN(a_narrow_page_tells_which_trial_it_is);
    RUN(orders_are_total_and_can_be_turned_round);
    RUN(slots_are_those_of_runners_that_are_there);
    RUN(curves_have_blocks_where_the_locale_has_them);
    return check_done();
}
