/* runner/far/far.h: far_pull() with runner/mirror/give.h at the other end: a
 * tree comes whole or not at all, and a place that lies gains nothing. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "runner/far/parts.h"
#include "runner/mirror/give.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

#define MODEL "1/2/model"

enum { BIG = 40 * FRAME_DATA + 5 }; /* more than is under way at a time */

static char state[PATH_MAX], root[PATH_MAX];
static struct site site;
static struct far far;
static struct arena *arena;
static int there;      /* the root */
static size_t n_reads; /* that were asked for */
static struct ht_error err;

static const char *at(const char *folder, const char *path)
{
    return arena_printf(arena, "%s/%s", folder, path);
}

static void put(const char *folder, const char *path, const char *bytes,
                size_t len)
{
    char *parent = arena_strdup(arena, at(folder, path));
    char *name = strrchr(parent, '/');
    *name++ = '\0';
    CHECK(disk_make_folder(parent, NULL) == HT_OK);
    CHECK(disk_write(parent, name, bytes, len, 0600, NULL) == HT_OK);
}

static void say(const char *path, const char *words)
{
    put(root, path, words, strlen(words));
}

static char *big_bytes(char first)
{
    char *bytes = arena_alloc(arena, BIG, 1);
    for (size_t i = 0; i < BIG; i++)
        bytes[i] = (char)(first + (char)(i % 23));
    return bytes;
}

static struct disk_bytes read_here(const char *path)
{
    struct disk_bytes bytes = {.data = NULL};
    (void)disk_read(arena, at(state, MODEL), path, BIG + 1, &bytes, NULL);
    return bytes;
}

static const char *text_here(const char *path)
{
    return read_here(path).data;
}

static void begin(void)
{
    runner_fixture_folder(state);
    runner_fixture_folder(root);
    arena = arena_new();
    site = (struct site){.state = state};
    there = open(root, O_RDONLY | O_DIRECTORY);
    n_reads = 0;
    far = (struct far){.site = &site,
                       .state = open(state, O_RDONLY | O_DIRECTORY),
                       .wake = -1,
                       .connection = 1,
                       .synced = 1};
    pthread_mutex_init(&far.lock, NULL);
    put(state, MODEL "/old", "old", 3);
}

static void end(void)
{
    far_pull_free(far.pull);
    close(far.state);
    close(there);
    text_free(&far.queue);
    arena_free(arena);
}

/* ---- the two ends ---- */

static enum far_pulled pull(void)
{
    const struct far_pull_wish wish = {.folder = at(state, "1/2/model"),
                                       .below = "",
                                       .aside = at(state, "1/2/aside")};
    return far_pull(&far, &wish, &err);
}

static bool bring(void *context, const struct frame *frame)
{
    (void)context;
    CHECK(far_receive(&far, frame, NULL) == HT_OK);
    return true;
}

static void answer(const struct frame *frame)
{
    n_reads += frame->kind == FRAME_READ;
    if (frame->kind == FRAME_LIST)
        give_list(there, frame, bring, NULL);
    else
        give_part(there, frame, bring, NULL);
}

/* Answers so many of the queued frames; fewer: there are no more. */
static void pass(size_t most)
{
    for (; most > 0 && far.queue.len > 0; most--) {
        size_t used;
        struct frame frame;
        struct text all = far.queue;
        CHECK(frame_read(all.data, all.len, &frame, &used, NULL) == HT_OK);
        far.queue = (struct text){0};
        text_append(&far.queue, all.data + used, all.len - used);
        answer(&frame);
        text_free(&all);
    }
}

static enum far_pulled pull_all(void)
{
    enum far_pulled state_now = pull();
    while (state_now == FAR_PULLING && far.queue.len > 0) {
        pass(SIZE_MAX);
        state_now = pull();
    }
    return state_now;
}

static enum ht_status send_frame(enum frame_kind kind, const char *path,
                                 uint64_t number, unsigned mode,
                                 const char *data)
{
    return far_receive(&far,
                       &(struct frame){.kind = kind,
                                       .path = path,
                                       .number = number,
                                       .mode = mode,
                                       .data = data,
                                       .len = strlen(data)},
                       &err);
}

static void lapse(void)
{
    text_clear(&far.queue);
    far.connection++;
    far.synced = far.connection;
}

/* ---- what comes ---- */

static void a_tree_comes_as_it_is(void)
{
    struct stat is;
    char target[16] = "";
    begin();
    put(root, MODEL "/sub/big", big_bytes('a'), BIG);
    say(MODEL "/empty", "");
    say(MODEL "/sub/run", "#!");
    CHECK(chmod(at(root, MODEL "/sub/run"), 0700) == 0);
    CHECK(symlink("sub/big", at(root, MODEL "/latest")) == 0);
    CHECK(mkfifo(at(root, MODEL "/pipe"), 0600) == 0);
    CHECK(pull_all() == FAR_PULLED);
    CHECK(read_here("sub/big").len == BIG &&
          memcmp(read_here("sub/big").data, big_bytes('a'), BIG) == 0);
    CHECK_TEXT(text_here("empty"), "");
    CHECK(stat(at(state, MODEL "/sub/run"), &is) == 0 && is.st_mode & S_IXUSR);
    CHECK(readlink(at(state, MODEL "/latest"), target, 15) == 7);
    CHECK_TEXT(target, "sub/big");
    CHECK(!disk_has(at(state, MODEL), "pipe"));
    CHECK(!disk_has(at(state, MODEL), "old"));
    CHECK(!disk_has(at(state, "1/2"), "aside"));
    end();
}

static void nothing_changes_before_all_has_come(void)
{
    begin();
    put(root, MODEL "/big", big_bytes('a'), BIG);
    CHECK(pull() == FAR_PULLING);
    pass(20);
    CHECK(pull() == FAR_PULLING);
    CHECK_TEXT(text_here("old"), "old");
    CHECK(!disk_has(at(state, MODEL), "big"));
    CHECK(pull_all() == FAR_PULLED && disk_has(at(state, MODEL), "big"));
    end();
}

static void a_new_connection_continues(void)
{
    begin();
    put(root, MODEL "/big", big_bytes('a'), BIG);
    CHECK(pull() == FAR_PULLING);
    pass(31); /* the list and 30 parts */
    lapse();
    CHECK(pull_all() == FAR_PULLED);
    CHECK(n_reads == 41);
    CHECK(memcmp(read_here("big").data, big_bytes('a'), BIG) == 0);
    end();
}

static void what_has_changed_meanwhile_is_read_anew(void)
{
    begin();
    put(root, MODEL "/big", big_bytes('a'), BIG);
    CHECK(pull() == FAR_PULLING);
    pass(20);
    put(root, MODEL "/big", big_bytes('b'), BIG);
    pass(5);
    lapse();
    CHECK(pull_all() == FAR_PULLED);
    CHECK(memcmp(read_here("big").data, big_bytes('b'), BIG) == 0);
    end();
}

static void what_changes_always_does_not_come(void)
{
    begin();
    enum far_pulled state_now = FAR_PULLING;
    for (int i = 0; i < 400 && state_now == FAR_PULLING; i++) {
        put(root, MODEL "/big", big_bytes((char)('a' + i % 3)), BIG);
        state_now = pull();
        pass(3);
    }
    CHECK(state_now == FAR_NOT_PULLED && err.status == HT_CONFLICT);
    CHECK_TEXT(text_here("old"), "old");
    CHECK(!disk_has(at(state, "1/2"), "aside"));
    end();
}

static void what_is_not_there_changes_nothing(void)
{
    begin();
    CHECK(pull_all() == FAR_NOT_PULLED && err.status == HT_NOT_FOUND);
    CHECK_TEXT(text_here("old"), "old");
    end();
}

/* ---- a trial that lays traps ---- */

static void no_link_is_followed_there(void)
{
    begin();
    say("secret", "s");
    CHECK(disk_make_folder(at(root, MODEL), NULL) == HT_OK);
    CHECK(symlink("../../../secret", at(root, MODEL "/out")) == 0);
    CHECK(symlink("/etc/passwd", at(root, MODEL "/absolute")) == 0);
    CHECK(pull_all() == FAR_PULLED);
    CHECK(!disk_has(at(state, MODEL), "out"));
    CHECK(!disk_has(at(state, MODEL), "absolute"));
    CHECK(rename(at(root, MODEL), at(root, "1/2/aside")) == 0);
    CHECK(symlink("../..", at(root, MODEL)) == 0);
    CHECK(pull_all() == FAR_NOT_PULLED && err.status == HT_CORRUPT);
    end();
}

/* ---- a place that lies ---- */

static void names_outside_of_the_tree_are_refused(void)
{
    static const char *const paths[] = {
        "1/2/model/../evil", "1/2/modelx", "1/2/checkpoints/a", "/etc/x", "",
        "1/2/model//a",      "1/2"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        begin();
        CHECK(pull() == FAR_PULLING);
        CHECK(send_frame(FRAME_ENTRY, paths[i], 0, 1, "f00000001") ==
              HT_CORRUPT);
        end();
    }
}

static void a_list_without_sense_is_refused(void)
{
    static const char *const data[] = {"",          "f",          "f0000000z",
                                       "q00000001", "f00000001x", "l00000000"};
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        begin();
        CHECK(pull() == FAR_PULLING);
        CHECK(send_frame(FRAME_ENTRY, MODEL "/a", 0, 1, data[i]) == HT_CORRUPT);
        end();
    }
    begin();
    CHECK(pull() == FAR_PULLING);
    CHECK(send_frame(FRAME_ENTRY, MODEL "/a", 1ULL << 63, 1, "f00000001") ==
          HT_CORRUPT);
    end();
}

static void a_list_has_an_end(void)
{
    begin();
    CHECK(pull() == FAR_PULLING);
    CHECK(send_frame(FRAME_ENTRY, MODEL, 0, 1, "d00000000") == HT_OK);
    enum ht_status status = HT_OK;
    size_t n = 1;
    for (; status == HT_OK && n <= GIVE_MOST; n++)
        status = send_frame(FRAME_ENTRY, MODEL "/a", 0, 1, "f00000001");
    CHECK(status == HT_CORRUPT && n == GIVE_MOST + 1);
    end();
}

/* What it says is a link in one entry is no folder of the next one. */
static void a_path_through_a_link_is_not_written(void)
{
    begin();
    CHECK(pull() == FAR_PULLING);
    CHECK(send_frame(FRAME_ENTRY, MODEL, 0, 1, "d00000000") == HT_OK);
    CHECK(send_frame(FRAME_ENTRY, MODEL "/s", 0, 1, "d00000000") == HT_OK);
    CHECK(send_frame(FRAME_ENTRY, MODEL "/a", 0, 1, "l00000000s") == HT_OK);
    CHECK(send_frame(FRAME_ENTRY, MODEL "/a/x", 0, 1, "f00000001") == HT_OK);
    CHECK(send_frame(FRAME_LISTED, MODEL, 1, 1, "") == HT_OK);
    CHECK(pull() == FAR_NOT_PULLED);
    CHECK_TEXT(text_here("old"), "old");
    end();
}

static void parts_that_were_not_asked_for_are_refused(void)
{
    begin();
    CHECK(pull() == FAR_PULLING);
    CHECK(send_frame(FRAME_PART, MODEL "/a", 0, 7, "early") == HT_OK);
    CHECK(send_frame(FRAME_ENTRY, MODEL, 0, 1, "d00000000") == HT_OK);
    CHECK(send_frame(FRAME_ENTRY, MODEL "/a", 3, 1, "f00000007") == HT_OK);
    CHECK(send_frame(FRAME_LISTED, MODEL, 1, 1, "") == HT_OK);
    CHECK(send_frame(FRAME_PART, MODEL "/b", 0, 7, "abc") == HT_CORRUPT);
    CHECK(send_frame(FRAME_PART, MODEL "/a", 1, 7, "bc") == HT_CORRUPT);
    CHECK(send_frame(FRAME_PART, MODEL "/a", 0, 7, "abc") == HT_OK);
    CHECK(pull() == FAR_PULLED);
    CHECK_TEXT(text_here("a"), "abc");
    CHECK(send_frame(FRAME_PART, MODEL "/a", 0, 7, "late") == HT_OK);
    CHECK_TEXT(text_here("a"), "abc");
    end();
}

int main(void)
{
    runner_fixture_init();
    RUN(a_tree_comes_as_it_is);
    RUN(nothing_changes_before_all_has_come);
    RUN(a_new_connection_continues);
    RUN(what_has_changed_meanwhile_is_read_anew);
    RUN(what_changes_always_does_not_come);
    RUN(what_is_not_there_changes_nothing);
    RUN(no_link_is_followed_there);
    RUN(names_outside_of_the_tree_are_refused);
    RUN(a_list_without_sense_is_refused);
    RUN(a_list_has_an_end);
    RUN(a_path_through_a_link_is_not_written);
    RUN(parts_that_were_not_asked_for_are_refused);
    runner_fixture_fini();
    return check_done();
}
