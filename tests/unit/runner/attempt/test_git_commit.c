/* The commit of a folder, from git, without waiting. */
#include "proto/base/file_tree.h"
#include "runner/attempt/git_commit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/base/disk.h"
#include "tests/check.h"

static char folder[64], empty[64];
static const struct site site = {.state = "/state"};
static struct arena *arena;

static bool git(const char *const words[])
{
    const pid_t child = fork();
    if (child == 0) {
        char *argv[16] = {strdup("git"), strdup("-C"), folder};
        for (size_t i = 0; words[i] != NULL && i < 12; i++)
            argv[i + 3] = strdup(words[i]);
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        execvp("git", argv);
        _exit(127);
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0;
}

#define GIT(...) git((const char *const[]){__VA_ARGS__, NULL})

static struct git_commit_answer await(struct probes *probes, const char *path,
                                      int64_t now_ms)
{
    struct git_commit_answer answer;
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    do {
        answer = git_commit_ask(probes, arena, path, now_ms - 5000, now_ms);
        usleep(1000);
    } while (!answer.known && clock_monotonic_ms() < end_ms);
    CHECK(answer.known);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return answer;
}

static void a_clean_tree_has_its_commit(void)
{
    struct probes *probes = probes_new(&site);
    const struct git_commit_answer answer = await(probes, folder, 1000);
    CHECK(answer.commit != NULL && strlen(answer.commit) == 40);
    CHECK(!answer.dirty);
    CHECK(probes_wake_at(probes, 1000) == INT64_MAX);
    probes_free(probes);
}

static void a_change_makes_it_dirty_once_the_answer_is_old(void)
{
    struct probes *probes = probes_new(&site);
    CHECK(!await(probes, folder, 1000).dirty);
    CHECK(disk_write(folder, "new.py", "x", 1, 0600, NULL) == HT_OK);
    CHECK(!await(probes, folder, 2000).dirty);
    const struct git_commit_answer answer = await(probes, folder, 9000);
    CHECK(answer.dirty && answer.commit != NULL);
    probes_free(probes);
}

static void what_differs_is_recorded_without_what_git_does_not_track(void)
{
    struct probes *probes = probes_new(&site);
    CHECK(disk_write(folder, "train.py", "lr=2\n", 5, 0600, NULL) == HT_OK);
    CHECK(disk_write(folder, "key.txt", "secret", 6, 0600, NULL) == HT_OK);
    const struct git_commit_answer answer = await(probes, folder, 1000);
    CHECK_TEXT(answer.branch, "work");
    CHECK(answer.dirty && !answer.more);
    CHECK(answer.len == strlen(answer.changes));
    CHECK(strstr(answer.changes, "--- a/train.py\n+++ b/train.py\n") != NULL);
    CHECK(strstr(answer.changes, "+lr=2\n") != NULL);
    CHECK(strstr(answer.changes, "? key.txt\n") != NULL);
    CHECK(strstr(answer.changes, "secret") == NULL);
    probes_free(probes);
    CHECK(disk_write(folder, "train.py", "x", 1, 0600, NULL) == HT_OK);
    CHECK(unlink(arena_printf(arena, "%s/key.txt", folder)) == 0);
}

static void other_folders_have_none(void)
{
    struct probes *probes = probes_new(&site);
    CHECK(await(probes, empty, 1000).commit == NULL);
    CHECK(await(probes, "/no/such", 1000).commit == NULL);
    CHECK(await(probes, folder, 1000).commit != NULL);
    probes_free(probes);
}

static void no_answer_is_awaited_longer_than_five_seconds(void)
{
    struct probes *probes = probes_new(&site);
    struct git_commit_answer answer =
        git_commit_ask(probes, arena, folder, 1000, 1000);
    if (!answer.known) {
        CHECK(probes_wake_at(probes, 1000) < 1100);
        answer = git_commit_ask(probes, arena, folder, 1000, 7000);
    }
    CHECK(answer.known);
    probes_free(probes);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
}

int main(void)
{
    arena = arena_new();
    const char *root = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/ht-git-XXXXXX",
             root == NULL ? "/tmp" : root);
    snprintf(empty, sizeof empty, "%s/ht-bare-XXXXXX",
             root == NULL ? "/tmp" : root);
    CHECK(mkdtemp(folder) != NULL && mkdtemp(empty) != NULL);
    setenv("GIT_CEILING_DIRECTORIES", empty, 1);
    CHECK(GIT("init", "-q", "-b", "work"));
    CHECK(disk_write(folder, "train.py", "x", 1, 0600, NULL) == HT_OK);
    CHECK(GIT("add", "train.py"));
    CHECK(GIT("-c", "user.email=a@b.c", "-c", "user.name=n", "commit", "-q",
              "-m", "first"));
    RUN(a_clean_tree_has_its_commit);
    RUN(what_differs_is_recorded_without_what_git_does_not_track);
    RUN(no_answer_is_awaited_longer_than_five_seconds);
    RUN(other_folders_have_none);
    RUN(a_change_makes_it_dirty_once_the_answer_is_old);
    file_tree_remove(folder, NULL, NULL);
    file_tree_remove(empty, NULL, NULL);
    arena_free(arena);
    return check_done();
}
