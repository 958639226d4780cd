/* runner/element/element.h: what element and runner write is what the other
 * one reads, and what is not there yet is no damage. */
#include "runner/element/element.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

static void put(const char *folder, const char *name, const char *text)
{
    CHECK(disk_write(folder, name, text, strlen(text), 0600, NULL) == HT_OK);
}

static void an_element_is_read_as_it_was_written(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    struct element read;
    runner_fixture_folder(folder);
    const struct element written = {.job = 1234567,
                                    .index = 9,
                                    .turn = 4,
                                    .launch = "a-1",
                                    .host = "n1",
                                    .nodes = "n[1-2]",
                                    .gpus = "0,1",
                                    .began_ms = 1700000000000,
                                    .end_ms = 1700000060000};
    CHECK(element_write(folder, &written, NULL) == HT_OK);
    CHECK(element_read(arena, folder, &read, NULL) == HT_OK);
    CHECK(read.job == 1234567 && read.index == 9 && read.turn == 4);
    CHECK_TEXT(arena_printf(arena, "%s %s %s %s", read.launch, read.host,
                            read.nodes, read.gpus),
               "a-1 n1 n[1-2] 0,1");
    CHECK(read.began_ms == written.began_ms && read.end_ms == written.end_ms);
    arena_free(arena);
}

static void what_names_no_job_is_damaged(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    struct element read;
    static const char *const texts[] = {
        "", "{", "[]", "{}", "{\"job\":0,\"index\":1}", "{\"job\":5}"};
    runner_fixture_folder(folder);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(folder, "element.json", texts[i]);
        CHECK(element_read(arena, folder, &read, NULL) == HT_CORRUPT);
    }
    arena_free(arena);
}

/* "TURN", with "+" when it is answered. */
static const char *asked(struct arena *arena, const char *folder)
{
    int turn = -1;
    bool answered = false;
    struct ht_error err = {.text = ""};
    if (element_asked(folder, &turn, &answered, &err) != HT_OK)
        return arena_strdup(arena, err.text);
    return arena_printf(arena, "%d%s", turn, answered ? "+" : "");
}

static void the_highest_turn_counts(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    const struct element_answer end = {.end = true};
    runner_fixture_folder(folder);
    CHECK_TEXT(asked(arena, folder), "0");
    put(folder, "ask.x", "");
    put(folder, "ask.99.new", "");
    put(folder, ".ask.98", "");
    for (int i = 1; i <= 11; i++)
        CHECK(element_ask(folder, i, NULL) == HT_OK);
    CHECK(element_answer_write(folder, 10, &end, NULL) == HT_OK);
    CHECK_TEXT(asked(arena, folder), "11");
    CHECK(element_answer_write(folder, 11, &end, NULL) == HT_OK);
    CHECK_TEXT(asked(arena, folder), "11+");
    arena_free(arena);
}

static void an_answer_is_read_as_it_was_written(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    struct element_answer read;
    const struct element_answer trial = {.folder = "/runs/\"1\"/2",
                                         .limit_ms = 1700000060000,
                                         .grace_ms = 30000,
                                         .report = {"tls+tcp://a:1", "x"}};
    runner_fixture_folder(folder);
    CHECK(element_answer_read(arena, folder, 1, &read, NULL) == HT_NOT_FOUND);
    CHECK(element_answer_write(folder, 1, &trial, NULL) == HT_OK);
    CHECK(element_answer_read(arena, folder, 1, &read, NULL) == HT_OK);
    CHECK(!read.end && read.limit_ms == trial.limit_ms &&
          read.grace_ms == trial.grace_ms);
    CHECK_TEXT(read.folder, trial.folder);
    CHECK_TEXT(read.report.to, "tls+tcp://a:1");
    CHECK_TEXT(read.report.pins, "x");
    arena_free(arena);
}

static void an_answer_ends_or_names_a_folder(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    struct element_answer read;
    const struct element_answer end = {.end = true};
    runner_fixture_folder(folder);
    CHECK(element_answer_write(folder, 2, &end, NULL) == HT_OK);
    CHECK(element_answer_read(arena, folder, 2, &read, NULL) == HT_OK);
    CHECK(read.end);
    put(folder, "answer.3", "{\"folder\":\"relative\"}");
    CHECK(element_answer_read(arena, folder, 3, &read, NULL) == HT_CORRUPT);
    arena_free(arena);
}

static void a_folder_that_is_gone_has_nothing_yet(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    struct element element;
    struct element_answer answer;
    struct ht_error err;
    int turn;
    bool answered;
    runner_fixture_folder(folder);
    CHECK(rmdir(folder) == 0);
    CHECK(element_read(arena, folder, &element, &err) == HT_NOT_FOUND);
    CHECK(element_answer_read(arena, folder, 1, &answer, &err) == HT_NOT_FOUND);
    CHECK(element_asked(folder, &turn, &answered, &err) == HT_NOT_FOUND);
    CHECK(element_ask(folder, 1, &err) == HT_IO);
    arena_free(arena);
}

static void patience_has_defaults(void)
{
    char folder[PATH_MAX];
    const struct element_patience told = {.kill_wait_ms = 30000,
                                          .limit_ms = 60000};
    runner_fixture_folder(folder);
    struct element_patience read = element_patience_read(folder);
    CHECK(read.answer_ms == 600000 && read.kill_wait_ms == 5000);
    CHECK(read.limit_ms == 0);
    CHECK(element_patience_write(folder, &told, NULL) == HT_OK);
    read = element_patience_read(folder);
    CHECK(read.answer_ms == 600000 && read.kill_wait_ms == 30000);
    CHECK(read.limit_ms == 60000);
    put(folder, "patience.json", "{");
    read = element_patience_read(folder);
    CHECK(read.answer_ms == 600000 && read.kill_wait_ms == 5000);
}

int main(void)
{
    runner_fixture_init();
    RUN(an_element_is_read_as_it_was_written);
    RUN(what_names_no_job_is_damaged);
    RUN(the_highest_turn_counts);
    RUN(an_answer_is_read_as_it_was_written);
    RUN(an_answer_ends_or_names_a_folder);
    RUN(a_folder_that_is_gone_has_nothing_yet);
    RUN(patience_has_defaults);
    runner_fixture_fini();
    return check_done();
}
