#include <unistd.h>

#include "tests/check.h"

#include "proto/doc/json.h"
#include "runner/reports/results_file.h"
#include "tests/lib/runner_fixture.h"

static char folder_path[PATH_MAX];
static char file_path[PATH_MAX + 8];
static struct order *order;
static struct metrics_seen seen;
static struct text taken; /* "STEP:VALUE " of each record */

static void take(void *context, const struct report *report)
{
    (void)context;
    if (report->has_step)
        text_printf(&taken, "%lld:", (long long)report->step);
    text_double(&taken, report->metrics[0].value);
    text_puts(&taken, " ");
}

static void write_to(const char *name, const char *mode, const char *content)
{
    char path[PATH_MAX + 8];
    (void)snprintf(path, sizeof path, "%s/%s", folder_path, name);
    FILE *file = fopen(path, mode);
    CHECK(file != NULL && fputs(content, file) >= 0 && fclose(file) == 0);
}

static void write_file(const char *mode, const char *content)
{
    write_to("out.csv", mode, content);
}

static void init(struct results_file *file)
{
    results_file_init(file, order, 0, folder_path, NULL, &seen);
    file->take = take;
}

/* An attempt that begins where `before` (NULL: nothing) is in the file. */
static void begin(struct results_file *file, const char *before)
{
    runner_fixture_folder(folder_path);
    (void)snprintf(file_path, sizeof file_path, "%s/out.csv", folder_path);
    if (before != NULL)
        write_file("w", before);
    init(file);
    struct ht_error err = {.text = ""};
    CHECK(results_file_begin(file, folder_path, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
}

/* As when the runner is started again. */
static void restart(struct results_file *file)
{
    results_file_fini(file);
    init(file);
    CHECK(results_file_resume(file, folder_path, NULL) == HT_OK);
}

static const char *look(struct results_file *file, bool final)
{
    text_clear(&taken);
    text_puts(&taken, "");
    while (results_file_read(file, 1 << 20, final))
        continue;
    return taken.data;
}

#define HEAD "step,acc\n"
#define LEFT HEAD "1,0.5\n2,0.7\n"

static void what_was_there_before_is_no_result(void)
{
    struct results_file file;
    begin(&file, LEFT);
    CHECK_TEXT(look(&file, false), "");
    CHECK_TEXT(look(&file, true), "");
    CHECK_TEXT(results_file_state(&file), "unchanged");
    results_file_fini(&file);
}

static void what_is_appended_is(void)
{
    struct results_file file;
    begin(&file, LEFT);
    write_file("a", "1,0.6\n");
    CHECK_TEXT(look(&file, false), "1:0.6 ");
    write_file("a", "2,0.7\n"); /* as before, but it came again */
    CHECK_TEXT(look(&file, true), "2:0.7 ");
    CHECK(results_file_state(&file) == NULL);
    results_file_fini(&file);
}

static void an_unfinished_line_of_before_is_not_prolonged(void)
{
    struct results_file file;
    begin(&file, LEFT "3,0.");
    write_file("a", "1,0.6\n");
    CHECK_TEXT(look(&file, true), "1:0.6 ");
    results_file_fini(&file);
    begin(&file, "{\"acc\":0.5}");
    write_file("a", "{\"acc\":0.5}\n");
    CHECK_TEXT(look(&file, true), "0.5 ");
    results_file_fini(&file);
    begin(&file, LEFT "3,0.9");
    write_file("a", "\n");
    CHECK_TEXT(look(&file, true), "");
    results_file_fini(&file);
}

static void an_emptied_file_is_all_new_whatever_it_holds(void)
{
    static const char *const contents[] = {LEFT, HEAD "1,0.5\n", LEFT "3,1\n"};
    static const char *const wants[] = {"1:0.5 2:0.7 ", "1:0.5 ",
                                        "1:0.5 2:0.7 3:1 "};
    for (int way = 0; way < 3; way++) {
        for (size_t i = 0; i < 3; i++) {
            struct results_file file;
            begin(&file, LEFT);
            if (way == 1)
                CHECK(remove(file_path) == 0);
            if (way == 2) {
                char other[PATH_MAX + 16];
                (void)snprintf(other, sizeof other, "%s.1", file_path);
                CHECK(rename(file_path, other) == 0);
            }
            write_file("w", contents[i]);
            CHECK_TEXT(look(&file, false), wants[i]);
            CHECK_TEXT(look(&file, true), "");
            results_file_fini(&file);
        }
    }
}

/* One that still holds the file does not count as a reader of it. */
static void the_attempt_before_leaves_no_trace(void)
{
    struct results_file first, second;
    begin(&first, NULL);
    write_file("w", LEFT);
    CHECK_TEXT(look(&first, true), "1:0.5 2:0.7 ");
    init(&second);
    CHECK(results_file_begin(&second, folder_path, NULL) == HT_OK);
    results_file_fini(&first);
    write_file("w", LEFT);
    CHECK_TEXT(look(&second, true), "1:0.5 2:0.7 ");
    results_file_fini(&second);
}

/* A program that reads the file first writes the old lines back. */
static void lines_that_are_written_back_are_those_of_before(void)
{
    struct results_file file;
    char buffer[64];
    for (int way = 0; way < 2; way++) {
        begin(&file, LEFT);
        FILE *reader = fopen(file_path, "r");
        CHECK(reader != NULL && fread(buffer, 1, sizeof buffer, reader) > 0 &&
              fclose(reader) == 0);
        if (way == 1)
            write_to("tmp", "w", HEAD "1,0.50\n2,0.70\n1,0.8\n");
        else
            write_file("w", HEAD "1,0.8\n2,0.70\n1,0.50\n");
        if (way == 1) {
            char from[PATH_MAX + 8];
            (void)snprintf(from, sizeof from, "%s/tmp", folder_path);
            CHECK(rename(from, file_path) == 0);
        }
        CHECK_TEXT(look(&file, false), "1:0.8 ");
        CHECK_TEXT(look(&file, true), "");
        results_file_fini(&file);
    }
}

static void what_an_overwriting_program_leaves_is_not_its(void)
{
    struct results_file file;
    begin(&file, HEAD "1,0.5\n2,0.7\n3,0.9\n");
    FILE *writer = fopen(file_path, "r+");
    CHECK(writer != NULL && fputs(HEAD "1,0.4\n", writer) >= 0 &&
          fclose(writer) == 0);
    CHECK_TEXT(look(&file, true), "1:0.4 ");
    CHECK(truncate(file_path, sizeof HEAD - 1 + 12) == 0);
    CHECK_TEXT(look(&file, true), "");
    results_file_fini(&file);
}

static void a_restarted_runner_finds_the_same(void)
{
    struct results_file file;
    begin(&file, LEFT);
    restart(&file);
    CHECK_TEXT(look(&file, false), "");
    write_file("a", "1,0.6\n");
    restart(&file);
    CHECK_TEXT(look(&file, true), "1:0.6 ");
    results_file_fini(&file);
    begin(&file, LEFT);
    write_file("w", LEFT);
    CHECK_TEXT(look(&file, false), "1:0.5 2:0.7 ");
    restart(&file);
    CHECK_TEXT(look(&file, true), "1:0.5 2:0.7 ");
    results_file_fini(&file);
}

/* The server recognises a record by its number. */
static void a_record_has_the_same_number_after_a_restart(void)
{
    struct results_file file;
    begin(&file, LEFT);
    write_file("a", "1,0.6\n2,0.7\n");
    (void)look(&file, false);
    const uint64_t newest = file.newest;
    restart(&file);
    (void)look(&file, true);
    CHECK(newest != 0 && file.newest == newest);
    results_file_fini(&file);
}

static void the_rest_of_a_renamed_file_is_read(void)
{
    char other[PATH_MAX + 16];
    struct results_file file;
    begin(&file, LEFT);
    write_file("a", "1,0.6\n");
    CHECK_TEXT(look(&file, false), "1:0.6 ");
    write_file("a", "2,0.65\n");
    (void)snprintf(other, sizeof other, "%s.1", file_path);
    CHECK(rename(file_path, other) == 0);
    write_file("w", HEAD "3,0.7\n");
    CHECK_TEXT(look(&file, false), "2:0.65 3:0.7 ");
    write_file("a", "4,0.8\n");
    CHECK(remove(file_path) == 0);
    CHECK_TEXT(look(&file, true), "4:0.8 ");
    results_file_fini(&file);
}

static void a_file_of_one_line_ends_in_what_it_holds(void)
{
    struct results_file file;
    begin(&file, NULL);
    static const char *const states[] = {"acc\n0.5\n", "acc\n0.7\n",
                                         "acc\n0.5\n"};
    for (size_t i = 0; i < 3; i++) {
        write_file("w", states[i]);
        CHECK_TEXT(look(&file, false), i == 0 ? "0.5 " : i == 1 ? "0.7 " : "");
    }
    CHECK_TEXT(look(&file, true), "0.5 ");
    CHECK_TEXT(look(&file, true), "");
    results_file_fini(&file);
}

static void another_heading_gives_the_columns_another_order(void)
{
    struct results_file file;
    begin(&file, "step,acc,loss\n1,0.5,9\n");
    write_file("a", "loss,acc,step\n8,0.6,1\n{\"acc\":0.7}\n");
    CHECK_TEXT(look(&file, true), "1:0.6 0.7 ");
    results_file_fini(&file);
}

static void a_line_that_was_cut_off_is_no_number(void)
{
    struct results_file file;
    begin(&file, NULL);
    write_file("w", HEAD "1,0.5\n2,0.7");
    file.tail.cut = true;
    CHECK_TEXT(look(&file, true), "1:0.5 ");
    results_file_fini(&file);
}

static void an_attempt_that_never_began_has_read_nothing(void)
{
    struct results_file file;
    runner_fixture_folder(folder_path);
    write_file("w", LEFT);
    init(&file);
    CHECK_TEXT(look(&file, true), "");
    results_file_fini(&file);
}

static void too_much_of_before_is_reported(void)
{
    struct results_file file;
    runner_fixture_folder(folder_path);
    write_file("w", "");
    (void)snprintf(file_path, sizeof file_path, "%s/out.csv", folder_path);
    CHECK(truncate(file_path, (off_t)RESULTS_FILE_LEFTOVER + 1) == 0);
    init(&file);
    struct ht_error err;
    CHECK(results_file_begin(&file, folder_path, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "move it away") != NULL);
    results_file_fini(&file);
}

/* One row more, by one of the ways that programs have. */
static void add_row(unsigned way, const char *row)
{
    struct text content = {0};
    text_printf(&content, HEAD "%s", row);
    if (way >= 6)
        (void)remove(file_path);
    if (way < 4)
        write_file("a", row);
    else
        write_file("w", content.data);
    text_free(&content);
}

/* Whatever is done to the file, and however often the runner is restarted: no
 * value of before is taken, and the last one is. */
static void no_order_of_events_mixes_values(void)
{
    unsigned seed = 1;
    for (int round = 0; round < 300; round++) {
        struct results_file file;
        char last[32] = "";
        begin(&file, HEAD "1,100\n1,100\n2,101");
        for (int n = 1; n <= 8; n++) {
            char row[32];
            (void)snprintf(row, sizeof row, "%d,0.%d\n", n, n);
            (void)snprintf(last, sizeof last, "%d:0.%d ", n, n);
            seed = seed * 1103515245u + 12345u;
            add_row(seed >> 16 & 7, row);
            if ((seed >> 20 & 1) != 0)
                CHECK(strstr(look(&file, false), "10") == NULL);
            if ((seed >> 21 & 7) == 0)
                restart(&file);
        }
        CHECK(strstr(look(&file, true), "10") == NULL);
        CHECK(file.newest != 0);
        restart(&file);
        const char *again = look(&file, true);
        const size_t len = strlen(again), want = strlen(last);
        CHECK(len >= want && strcmp(again + len - want, last) == 0);
        results_file_fini(&file);
    }
}

int main(void)
{
    static const char lease[] =
        "{\"study\":1,\"trial\":1,\"attempt\":1,\"token\":\"t\","
        "\"metrics\":[\"acc\"],\"metricsFile\":\"out.csv\",\"replicas\":["
        "{\"type\":\"master\",\"index\":0,\"argv\":[\"x\"]}]}";
    json_init();
    runner_fixture_init();
    seen.arena = arena_new();
    CHECK(order_parse(lease, sizeof lease - 1, &order, NULL) == HT_OK);
    RUN(what_was_there_before_is_no_result);
    RUN(what_is_appended_is);
    RUN(an_unfinished_line_of_before_is_not_prolonged);
    RUN(an_emptied_file_is_all_new_whatever_it_holds);
    RUN(the_attempt_before_leaves_no_trace);
    RUN(lines_that_are_written_back_are_those_of_before);
    RUN(what_an_overwriting_program_leaves_is_not_its);
    RUN(a_restarted_runner_finds_the_same);
    RUN(a_record_has_the_same_number_after_a_restart);
    RUN(the_rest_of_a_renamed_file_is_read);
    RUN(a_file_of_one_line_ends_in_what_it_holds);
    RUN(another_heading_gives_the_columns_another_order);
    RUN(a_line_that_was_cut_off_is_no_number);
    RUN(an_attempt_that_never_began_has_read_nothing);
    RUN(too_much_of_before_is_reported);
    RUN(no_order_of_events_mixes_values);
    order_free(order);
    arena_free(seen.arena);
    text_free(&taken);
    runner_fixture_fini();
    return check_done();
}
