/* Trees that are kept on the disk of a runner, where no server answers. What a
 * server sends is in tests/e2e/test_code_travels.py. */
#include "runner/transfer/trees.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "tests/check.h"

enum { PATH_BYTES = 300, TREES = 6 };

static char root[PATH_BYTES];

static enum ht_status find(void *context, struct transfer_server *server,
                           struct ht_error *err)
{
    (void)context;
    (void)server;
    return ht_fail(err, HT_DENIED, "no token");
}

static const char *name_of(int number)
{
    static char names[TREES][TREE_NAME];
    snprintf(names[number], sizeof names[number], "%064x", number);
    return names[number];
}

static const char *in_root(struct arena *arena, const char *name)
{
    return arena_printf(arena, "%s/%s", root, name);
}

/* So many trees are there, and what a fetch left that was broken off. */
static void begin(struct arena *arena, int trees)
{
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/trees-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(root) != NULL);
    CHECK(mkdir(in_root(arena, "code"), 0700) == 0);
    CHECK(mkdir(in_root(arena, "code/broken.new"), 0700) == 0);
    for (int i = 0; i < trees; i++)
        CHECK(mkdir(trees_folder(arena, root, name_of(i)), 0700) == 0);
}

static bool is_there(struct arena *arena, int number)
{
    return access(trees_folder(arena, root, name_of(number)), F_OK) == 0;
}

static void wait_failed(struct trees *trees, int number, struct ht_error *err)
{
    const int64_t end = clock_monotonic_ms() + PATIENCE_MS;
    while (trees_look(trees, name_of(number), err) == TREES_PENDING &&
           clock_monotonic_ms() < end)
        usleep(1000);
}

static void what_is_there_is_not_fetched_again(void)
{
    struct arena *arena = arena_new();
    struct trees *trees = NULL;
    begin(arena, 1);
    const struct trees_settings settings = {.state = root, .find = find};
    CHECK(trees_start(&settings, &trees, NULL) == HT_OK);
    CHECK(access(in_root(arena, "code/broken.new"), F_OK) != 0);
    trees_want(trees, "local", name_of(0));
    CHECK(trees_look(trees, name_of(0), NULL) == TREES_READY);
    trees_leave(trees, name_of(0));
    trees_stop(trees);
    CHECK(is_there(arena, 0));
    CHECK(file_tree_remove(root, NULL, NULL) == HT_OK);
    arena_free(arena);
}

static void a_failure_says_why_and_is_tried_again(void)
{
    struct arena *arena = arena_new();
    struct trees *trees = NULL;
    struct ht_error err = {.text = ""};
    begin(arena, 0);
    const struct trees_settings settings = {.state = root, .find = find};
    CHECK(trees_start(&settings, &trees, NULL) == HT_OK);
    trees_want(trees, "local", name_of(0));
    wait_failed(trees, 0, &err);
    CHECK(trees_look(trees, name_of(0), &err) == TREES_FAILED);
    CHECK(err.status == HT_DENIED);
    CHECK_TEXT(err.text, "no token");
    trees_want(trees, "local", name_of(0));
    wait_failed(trees, 0, &err);
    trees_leave(trees, name_of(0));
    trees_leave(trees, name_of(0));
    trees_stop(trees);
    CHECK(!is_there(arena, 0));
    CHECK(file_tree_remove(root, NULL, NULL) == HT_OK);
    arena_free(arena);
}

/* Three without a user stay, and every one with a user. */
static void some_that_are_not_used_stay(void)
{
    struct arena *arena = arena_new();
    struct trees *trees = NULL;
    struct ht_error err;
    int left = 0;
    begin(arena, TREES - 1);
    const struct trees_settings settings = {.state = root, .find = find};
    CHECK(trees_start(&settings, &trees, NULL) == HT_OK);
    trees_want(trees, "local", name_of(0));
    trees_want(trees, "local", name_of(TREES - 1));
    wait_failed(trees, TREES - 1, &err);
    trees_stop(trees); /* what was to be removed has been */
    CHECK(is_there(arena, 0));
    for (int i = 1; i < TREES; i++)
        left += is_there(arena, i);
    CHECK(left == 3);
    CHECK(file_tree_remove(root, NULL, NULL) == HT_OK);
    arena_free(arena);
}

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    RUN(what_is_there_is_not_fetched_again);
    RUN(a_failure_says_why_and_is_tried_again);
    RUN(some_that_are_not_used_stay);
    curl_global_cleanup();
    return check_done();
}
