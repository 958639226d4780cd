#include "tests/check.h"

#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/cluster/avoided.h"
#include "tests/lib/runner_fixture.h"

enum { HALF_AN_HOUR_MS = 30 * 60 * 1000, AN_HOUR_MS = 60 * 60 * 1000 };

static void nodes_are_avoided_for_half_an_hour(void)
{
    struct arena *arena = arena_new();
    struct avoided avoided = {0};
    avoided_add(&avoided, "", 0);
    CHECK(avoided_text(&avoided, arena, 0) == NULL);
    avoided_add(&avoided, "n1", 0);
    avoided_add(&avoided, "n[3-4]", 5000);
    CHECK_TEXT(avoided_text(&avoided, arena, 5000), "n1,n[3-4]");
    CHECK_TEXT(avoided_text(&avoided, arena, HALF_AN_HOUR_MS), "n[3-4]");
    avoided_add(&avoided, "n[3-4]", HALF_AN_HOUR_MS);
    CHECK_TEXT(avoided_text(&avoided, arena, HALF_AN_HOUR_MS + 5000), "n[3-4]");
    CHECK(avoided_text(&avoided, arena, AN_HOUR_MS) == NULL);
    avoided_fini(&avoided);
    arena_free(arena);
}

/* The monotonic clock of the other run begins anew. */
static void another_run_avoids_them_too(void)
{
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    struct avoided avoided = {0}, read = {0};
    runner_fixture_folder(folder);
    avoided_read(&read, folder, 0);
    CHECK(avoided_text(&read, arena, 0) == NULL);
    avoided_add(&avoided, "n1", 7000000);
    avoided_add(&avoided, "n[3-4]", 7000000 + HALF_AN_HOUR_MS / 2);
    CHECK(avoided_write(&avoided, folder, 7000000 + HALF_AN_HOUR_MS / 2,
                        NULL) == HT_OK);
    avoided_read(&read, folder, 0);
    CHECK_TEXT(avoided_text(&read, arena, 0), "n1,n[3-4]");
    CHECK_TEXT(avoided_text(&read, arena, HALF_AN_HOUR_MS / 2), "n[3-4]");
    CHECK(avoided_text(&read, arena, HALF_AN_HOUR_MS) == NULL);
    avoided_fini(&avoided);
    avoided_fini(&read);
    arena_free(arena);
}

static void a_damaged_file_has_none(void)
{
    static const char *const files[] = {"{", "[]", "{\"n1\":\"soon\"}",
                                        "{\"n1\":1,\"n2\":9000000000000000}"};
    char folder[PATH_MAX];
    struct arena *arena = arena_new();
    struct avoided read = {0};
    runner_fixture_folder(folder);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        CHECK(disk_write(folder, "avoided.json", files[i], strlen(files[i]),
                         0600, NULL) == HT_OK);
        avoided_read(&read, folder, 0);
        CHECK(avoided_text(&read, arena, 0) == NULL);
    }
    avoided_fini(&read);
    arena_free(arena);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(nodes_are_avoided_for_half_an_hour);
    RUN(another_run_avoids_them_too);
    RUN(a_damaged_file_has_none);
    runner_fixture_fini();
    return check_done();
}
