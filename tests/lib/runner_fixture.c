#include "tests/lib/runner_fixture.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/file_tree.h"
#include "runner/base/disk.h"
#include "runner/base/order.h"

char runner_fixture_root[PATH_MAX / 4];
char runner_fixture_shim[PATH_MAX / 2];
static int folder_count;

void runner_fixture_init(void)
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(runner_fixture_root, sizeof runner_fixture_root,
                   "%s/ht-runner-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(runner_fixture_root) == NULL) {
        perror(runner_fixture_root);
        exit(1);
    }
    char self[PATH_MAX / 4];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    do { /* the build's folder is one above this program's */
        *strrchr(self, '/') = '\0';
        (void)snprintf(runner_fixture_shim, sizeof runner_fixture_shim,
                       "%s/bin/hypertune-shim", self);
    } while (access(runner_fixture_shim, X_OK) != 0 && self[0] != '\0');
}

void runner_fixture_fini(void)
{
    file_tree_remove(runner_fixture_root, NULL, NULL);
}

const char *runner_fixture_folder(char path[PATH_MAX])
{
    (void)snprintf(path, PATH_MAX, "%s/%d", runner_fixture_root,
                   ++folder_count);
    if (mkdir(path, 0700) != 0)
        perror(path);
    return path;
}

void runner_fixture_script(const char *folder, const char *script,
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

pid_t runner_fixture_start(const char *folder)
{
    char *argv[] = {runner_fixture_shim, strdup(folder), NULL};
    char *env[] = {NULL};
    pid_t pid = -1;
    const int code =
        posix_spawn(&pid, runner_fixture_shim, NULL, NULL, argv, env);
    if (code != 0)
        printf("# %s: %s\n", runner_fixture_shim, strerror(code));
    free(argv[1]);
    return pid;
}

int runner_fixture_wait(pid_t pid)
{
    int status = 0;
    if (waitpid(pid, &status, 0) != pid)
        return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct ending runner_fixture_run(const char *folder)
{
    struct ending ending = {.outcome = OUTCOME_LOST};
    const int code = runner_fixture_wait(runner_fixture_start(folder));
    struct ht_error err;
    if (code != 0 || folder_read_exit(folder, &ending, &err) != HT_OK)
        printf("# the shim answered %d\n", code);
    return ending;
}

struct order *runner_fixture_order(struct text *lease)
{
    struct order *order = NULL;
    struct ht_error err = {.text = ""};
    if (order_parse(lease->data, lease->len, &order, &err) != HT_OK)
        printf("# %s\n", err.text);
    CHECK(order != NULL);
    text_free(lease);
    return order;
}

char *runner_fixture_text(const char *folder, const char *name)
{
    struct arena *arena = arena_new();
    struct disk_bytes bytes;
    char *copy = NULL;
    if (disk_read(arena, folder, name, 64 << 20, &bytes, NULL) == HT_OK)
        copy = ht_xstrdup(bytes.data);
    arena_free(arena);
    return copy != NULL ? copy : ht_xstrdup("");
}

bool runner_fixture_file_has(const char *folder, const char *name,
                             const char *word)
{
    char *text = runner_fixture_text(folder, name);
    const bool found = strstr(text, word) != NULL;
    free(text);
    return found;
}
