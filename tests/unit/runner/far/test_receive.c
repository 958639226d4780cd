/* runner/far/parts.h: what a login node sends is written where it belongs, and
 * nowhere else. */
#include "runner/far/parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

static char state[PATH_MAX];
static struct site site;
static struct far far;
static struct far_watch watches[2];
static struct arena *arena;

static void begin(void)
{
    static char batch[] = "batches/b", attempt[] = "1/2/3", none[] = "";
    runner_fixture_folder(state);
    arena = arena_new();
    site = (struct site){.state = state};
    watches[0] = (struct far_watch){.next = &watches[1],
                                    .is = NAMES_ATTEMPT,
                                    .folder = attempt,
                                    .extra = none};
    watches[1] =
        (struct far_watch){.is = NAMES_BATCH, .folder = batch, .extra = none};
    far = (struct far){.site = &site,
                       .state = open(state, O_RDONLY | O_DIRECTORY),
                       .wake = -1,
                       .first = watches};
    pthread_cond_init(&far.changed, NULL);
}

static void end(void)
{
    close(far.state);
    text_free(&far.queue);
    arena_free(arena);
}

static enum ht_status take(enum frame_kind kind, const char *path,
                           uint64_t number, const char *data)
{
    return far_receive(&far,
                       &(struct frame){.kind = kind,
                                       .path = path,
                                       .number = number,
                                       .data = data,
                                       .len = strlen(data)},
                       NULL);
}

static const char *content(const char *folder, const char *name)
{
    struct disk_bytes bytes;
    return disk_read(arena, arena_printf(arena, "%s/%s", state, folder), name,
                     1 << 20, &bytes, NULL) == HT_OK
               ? bytes.data
               : NULL;
}

static void files_come_where_they_belong(void)
{
    begin();
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", 0, "one\n") == HT_OK);
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", 4, "two\n") == HT_OK);
    CHECK_TEXT(content("1/2/3/m", "reports.jsonl"), "one\ntwo\n");
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", 0, "new\n") == HT_OK);
    CHECK_TEXT(content("1/2/3/m", "reports.jsonl"), "new\n");
    CHECK(take(FRAME_WHOLE, "batches/b/7/ask.1", 0, "") == HT_OK);
    CHECK_TEXT(content("batches/b/7", "ask.1"), "");
    CHECK(take(FRAME_SOME, "1/2/3/m/stdout.0.log", 0, "x") == HT_OK);
    CHECK(take(FRAME_GONE, "1/2/3/m/stdout.0.log", 0, "") == HT_OK);
    CHECK(content("1/2/3/m", "stdout.0.log") == NULL);
    end();
}

static void an_end_that_was_decided_stays(void)
{
    begin();
    CHECK(take(FRAME_WHOLE, "1/2/3/m/exit.json", 0, "first") == HT_OK);
    CHECK(take(FRAME_WHOLE, "1/2/3/m/exit.json", 0, "second") == HT_OK);
    CHECK_TEXT(content("1/2/3/m", "exit.json"), "first");
    end();
}

static void a_gap_ends_the_connection(void)
{
    begin();
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", 1, "x") == HT_CORRUPT);
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", 0, "one\n") == HT_OK);
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", 5, "x") == HT_CORRUPT);
    CHECK_TEXT(content("1/2/3/m", "reports.jsonl"), "one\n");
    end();
}

static void hostile_names_are_refused(void)
{
    static const char *const paths[] = {
        "1/2/3/../../../evil",  "1/2/3/m/../exit.json", "1/2/3",
        "1/2/3/m/launch.json",  "1/2/3/m/token",        "1/2/3/lease.json",
        "1/2/3/slot.json",      "1/2/3/started",        "1/2/3/m",
        "batches/b/batch.json", "batches/b/7/answer.1", "1/2/3//m/exit.json",
        "1/2/3/m/exit.json/x",
    };
    begin();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CHECK(take(FRAME_WHOLE, paths[i], 0, "x") == HT_CORRUPT);
        CHECK(take(FRAME_SOME, paths[i], 0, "x") == HT_CORRUPT);
        CHECK(take(FRAME_GONE, paths[i], 0, "") == HT_CORRUPT);
    }
    /* Of no folder that is watched: removed meanwhile, or made up. */
    CHECK(take(FRAME_WHOLE, "runner-id", 0, "x") == HT_OK);
    CHECK(take(FRAME_WHOLE, "/etc/x", 0, "x") == HT_OK);
    CHECK(take(FRAME_WHOLE, "../x", 0, "x") == HT_OK);
    CHECK(take(FRAME_WHOLE, "1/2/4/m/exit.json", 0, "x") == HT_OK);
    CHECK(take(FRAME_WHOLE, "1/2/33/m/exit.json", 0, "x") == HT_OK);
    CHECK(!disk_has(state, "runner-id") && !disk_has(state, "1"));
    CHECK(!disk_has(state, "batches"));
    end();
}

static void sizes_are_limited(void)
{
    begin();
    CHECK(take(FRAME_SOME, "1/2/3/m/stdout.0.log", 1 << 20, "x") == HT_CORRUPT);
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", UINT64_MAX, "x") ==
          HT_CORRUPT);
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", 1ULL << 62, "x") ==
          HT_CORRUPT);
    CHECK(!disk_has(state, "1"));
    end();
}

static void no_link_is_followed(void)
{
    begin();
    CHECK(disk_make_folder(arena_printf(arena, "%s/1/2/3/m", state), NULL) ==
          HT_OK);
    CHECK(symlink("../../../../victim",
                  arena_printf(arena, "%s/1/2/3/m/reports.jsonl", state)) == 0);
    CHECK(take(FRAME_SOME, "1/2/3/m/reports.jsonl", 0, "x") == HT_IO);
    CHECK(!disk_has(state, "victim"));
    CHECK(symlink("/tmp", arena_printf(arena, "%s/1/2/3/n", state)) == 0);
    CHECK(take(FRAME_WHOLE, "1/2/3/n/exit.json", 0, "x") == HT_IO);
    end();
}

static void what_is_not_here_any_more_is_removed_there(void)
{
    struct frame frame;
    size_t used;
    begin();
    CHECK(disk_make_folder(arena_printf(arena, "%s/1/2/3", state), NULL) ==
          HT_OK);
    CHECK(take(FRAME_FOUND, "1/2/3", 0, "") == HT_OK && far.queue.len == 0);
    CHECK(take(FRAME_FOUND, "1/2/9", 0, "") == HT_OK);
    CHECK(frame_read(far.queue.data, far.queue.len, &frame, &used, NULL) ==
          HT_OK);
    CHECK(frame.kind == FRAME_REMOVE);
    CHECK_TEXT(frame.path, "1/2/9");
    CHECK(take(FRAME_FOUND, "../x", 0, "") == HT_CORRUPT);
    CHECK(take(FRAME_HELLO, "", 1, "") == HT_CORRUPT);
    CHECK(take(FRAME_REMOVE, "1", 0, "") == HT_CORRUPT);
    end();
}

int main(void)
{
    runner_fixture_init();
    RUN(files_come_where_they_belong);
    RUN(an_end_that_was_decided_stays);
    RUN(a_gap_ends_the_connection);
    RUN(hostile_names_are_refused);
    RUN(sizes_are_limited);
    RUN(no_link_is_followed);
    RUN(what_is_not_here_any_more_is_removed_there);
    runner_fixture_fini();
    return check_done();
}
