/* runner_fixture.h - a folder, a launch and a shim for the runner's tests.
 *
 * Every test program owns one temporary folder; waiting is polling with a
 * deadline, never a sleep that hopes. */
#ifndef HT_TESTS_UNIT_RUNNER_RUNNER_FIXTURE_H
#define HT_TESTS_UNIT_RUNNER_RUNNER_FIXTURE_H

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"

static char fixture_root[PATH_MAX / 4];
static char fixture_shim[PATH_MAX / 2];
static int fixture_count;

#define UNTIL(condition)                                                       \
    do {                                                                       \
        const int64_t until_ = clock_monotonic_ms() + PATIENCE_MS;             \
        while (!(condition) && clock_monotonic_ms() < until_)                  \
            poll(NULL, 0, 5);                                                  \
        CHECK(condition);                                                      \
    } while (0)

static inline void fixture_init(void)
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(fixture_root, sizeof fixture_root, "%s/ht-runner-XXXXXX",
                   base != NULL ? base : "/tmp");
    if (mkdtemp(fixture_root) == NULL) {
        perror(fixture_root);
        exit(1);
    }
    char self[PATH_MAX / 4];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    do { /* the build's folder is one above this program's */
        *strrchr(self, '/') = '\0';
        (void)snprintf(fixture_shim, sizeof fixture_shim,
                       "%s/bin/hypertune-shim", self);
    } while (access(fixture_shim, X_OK) != 0 && self[0] != '\0');
}

static inline void fixture_fini(void)
{
    file_tree_remove(fixture_root, NULL, NULL);
}

/* A new empty folder below the root, in a buffer of the caller. */
static inline const char *fixture_folder(char path[PATH_MAX])
{
    (void)snprintf(path, PATH_MAX, "%s/%d", fixture_root, ++fixture_count);
    if (mkdir(path, 0700) != 0)
        perror(path);
    return path;
}

/* Writes launch.json for /bin/sh -c script. */
static inline void fixture_script(const char *folder, const char *script,
                                  int64_t timeout_ms, int64_t grace_ms)
{
    const char *const argv[] = {"/bin/sh", "-c", script};
    const struct pair env[] = {{"PATH", "/usr/bin:/bin"},
                               {"HYPERTUNE_TRIAL_DIR", folder}};
    const struct launch launch = {
        .argv = {3, argv},
        .env = {2, env},
        .timeout_ms = timeout_ms,
        .grace_ms = grace_ms,
    };
    struct ht_error err;
    if (folder_write_launch(folder, &launch, &err) != HT_OK)
        printf("# %s\n", err.text);
}

static inline pid_t fixture_start(const char *folder)
{
    char *argv[] = {fixture_shim, strdup(folder), NULL};
    char *env[] = {NULL};
    pid_t pid = -1;
    const int code = posix_spawn(&pid, fixture_shim, NULL, NULL, argv, env);
    if (code != 0)
        printf("# %s: %s\n", fixture_shim, strerror(code));
    free(argv[1]);
    return pid;
}

/* Waits for the shim; its exit code, or -signal. */
static inline int fixture_wait(pid_t pid)
{
    int status = 0;
    if (waitpid(pid, &status, 0) != pid)
        return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline struct ending fixture_run(const char *folder)
{
    struct ending ending = {.outcome = OUTCOME_LOST};
    const int code = fixture_wait(fixture_start(folder));
    struct ht_error err;
    if (code != 0 || folder_read_exit(folder, &ending, &err) != HT_OK)
        printf("# the shim answered %d\n", code);
    return ending;
}

/* The whole file as text; "" when absent. Owned by the caller. */
static inline char *fixture_text(const char *folder, const char *name)
{
    struct arena *arena = arena_new();
    struct disk_bytes bytes;
    char *copy = NULL;
    if (disk_read(arena, folder, name, 64 << 20, &bytes, NULL) == HT_OK)
        copy = ht_xstrdup(bytes.data);
    arena_free(arena);
    return copy != NULL ? copy : ht_xstrdup("");
}

static inline bool fixture_file_has(const char *folder, const char *name,
                                    const char *word)
{
    char *text = fixture_text(folder, name);
    const bool found = strstr(text, word) != NULL;
    free(text);
    return found;
}

#endif
