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

static struct git_commit_answer await(struct git_commit *commit,
                                      const char *path, int64_t now_ms)
{
    struct git_commit_answer answer;
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    do {
        answer = git_commit_ask(commit, path, now_ms);
        usleep(1000);
    } while (!answer.known && clock_monotonic_ms() < end_ms);
    CHECK(answer.known);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return answer;
}

static void a_clean_tree_has_its_commit(void)
{
    struct git_commit *commit = git_commit_new();
    const struct git_commit_answer answer = await(commit, folder, 1000);
    CHECK(answer.commit != NULL && strlen(answer.commit) == 40);
    CHECK(!answer.dirty);
    CHECK(git_commit_wake_at(commit, 1000) == INT64_MAX);
    git_commit_free(commit);
}

static void a_change_makes_it_dirty_once_the_answer_is_old(void)
{
    struct git_commit *commit = git_commit_new();
    CHECK(!await(commit, folder, 1000).dirty);
    CHECK(disk_write(folder, "new.py", "x", 1, 0600, NULL) == HT_OK);
    CHECK(!await(commit, folder, 2000).dirty);
    const struct git_commit_answer answer = await(commit, folder, 9000);
    CHECK(answer.dirty && answer.commit != NULL);
    git_commit_free(commit);
}

static void other_folders_have_none(void)
{
    struct git_commit *commit = git_commit_new();
    CHECK(await(commit, empty, 1000).commit == NULL);
    CHECK(await(commit, "/no/such", 1000).commit == NULL);
    CHECK(await(commit, folder, 1000).commit != NULL);
    git_commit_free(commit);
}

static void no_answer_is_awaited_longer_than_two_seconds(void)
{
    struct git_commit *commit = git_commit_new();
    struct git_commit_answer answer = git_commit_ask(commit, folder, 1000);
    if (!answer.known) {
        CHECK(git_commit_wake_at(commit, 1000) < 1100);
        answer = git_commit_ask(commit, folder, 4000);
    }
    CHECK(answer.known);
    git_commit_free(commit);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
}

int main(void)
{
    const char *root = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/ht-git-XXXXXX",
             root == NULL ? "/tmp" : root);
    snprintf(empty, sizeof empty, "%s/ht-bare-XXXXXX",
             root == NULL ? "/tmp" : root);
    CHECK(mkdtemp(folder) != NULL && mkdtemp(empty) != NULL);
    setenv("GIT_CEILING_DIRECTORIES", empty, 1);
    CHECK(GIT("init", "-q"));
    CHECK(disk_write(folder, "train.py", "x", 1, 0600, NULL) == HT_OK);
    CHECK(GIT("add", "train.py"));
    CHECK(GIT("-c", "user.email=a@b.c", "-c", "user.name=n", "commit", "-q",
              "-m", "first"));
    RUN(a_clean_tree_has_its_commit);
    RUN(no_answer_is_awaited_longer_than_two_seconds);
    RUN(other_folders_have_none);
    RUN(a_change_makes_it_dirty_once_the_answer_is_old);
    file_tree_remove(folder, NULL, NULL);
    file_tree_remove(empty, NULL, NULL);
    return check_done();
}
