#include "hypertune/cli/frame/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/frame/spawn.h"
#include "proto/base/clock.h"
#include "proto/base/program.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"
#include "proto/net/address.h"

enum {
    START_MS = 10000,
    POLL_MS = 20,
    LOG_TAIL = 2048, /* bytes of server.log that are looked at */
    LOG_LINES = 5,   /* of them shown */
    MAX_JSON = 16384
};

const char *
cli_server_state_folder(struct arena *arena,
                        const struct cli_server_variables *variables)
{
    if (variables->own != NULL && variables->own[0] != '\0')
        return variables->own;
    /* The XDG rule: a relative value is ignored. */
    if (variables->state != NULL && variables->state[0] == '/')
        return arena_printf(arena, "%s/hypertune", variables->state);
    if (variables->home != NULL && variables->home[0] == '/')
        return arena_printf(arena, "%s/.local/state/hypertune",
                            variables->home);
    return NULL;
}

/* The first (or last) bytes, at least `max` of a longer file; NULL when it
 * cannot be read. */
static char *read_file(struct arena *arena, const char *path, size_t max,
                       bool tail)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t len;
    if (tail)
        lseek(fd, -(off_t)max, SEEK_END); /* a shorter one stays at its start */
    return cli_read_all(arena, fd, max, &len);
}

enum ht_status cli_server_find(struct arena *arena, const char *folder,
                               struct cli_server_info *info,
                               struct ht_error *err)
{
    /* The lock is probed only once server.json is there: a server that is
     * just starting must not find our shared lock in its way. */
    char *path = arena_printf(arena, "%s/server.json", folder);
    char *json = read_file(arena, path, MAX_JSON, false);
    if (json == NULL || !program_holds(arena_printf(arena, "%s/lock", folder)))
        return ht_fail(err, HT_NOT_FOUND, "no server runs in %s", folder);
    struct diag diag;
    diag_init(&diag, arena, path, NULL, 0);
    const struct node *root = node_read_json(arena, json, strlen(json), &diag);
    const char *url = node_get_string(root, "http", NULL);
    if (url == NULL)
        return ht_fail(err, HT_CORRUPT, "%s does not say \"http\"", path);
    if (strncmp(url, "http://", 7) != 0 || !address_url_is_loopback(url))
        return ht_fail(err, HT_CORRUPT,
                       "%s names %s, which is not this machine; use --server",
                       path, url);
    *info = (struct cli_server_info){
        .url = url,
        .token_file = arena_printf(arena, "%s/token", folder),
        .runner_token_file = arena_printf(arena, "%s/runner-token", folder),
        .pid = (pid_t)node_get_int(root, "pid", 0)};
    return HT_OK;
}

enum ht_status cli_server_make_folder(struct arena *arena, const char *folder,
                                      struct ht_error *err)
{
    char *path = arena_strdup(arena, folder);
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* a failure shows at the last level */
        *slash = '/';
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return ht_fail_errno(err, errno, "cannot make %s", folder);
    struct stat info;
    if (stat(folder, &info) == 0 && !S_ISDIR(info.st_mode))
        return ht_fail_errno(err, ENOTDIR, "cannot use %s", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return ht_fail_errno(err, errno, "cannot write in %s", folder);
    return HT_OK;
}

static void pause_ms(long ms)
{
    struct timespec span = {.tv_sec = ms / 1000,
                            .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

static enum ht_status await_server(struct arena *arena, const char *folder,
                                   pid_t pid, struct cli_server_info *info,
                                   struct ht_error *err)
{
    int64_t deadline = clock_monotonic_ms() + START_MS;
    bool ended = false;
    for (;;) {
        enum ht_status status = cli_server_find(arena, folder, info, err);
        if (status != HT_NOT_FOUND)
            return status;
        if (ended)
            return ht_fail(err, HT_UNAVAILABLE,
                           "the server for %s ended at once", folder);
        if (clock_monotonic_ms() >= deadline)
            return ht_fail(err, HT_UNAVAILABLE,
                           "the server for %s is not ready after %d s", folder,
                           START_MS / 1000);
        /* Looked at once more after its end: another one may have won. */
        ended = waitpid(pid, NULL, WNOHANG) == pid;
        pause_ms(POLL_MS);
    }
}

void cli_server_log_tail(struct arena *arena, const char *folder,
                         const char *name, struct text *log)
{
    char *path = arena_printf(arena, "%s/%s", folder, name);
    char *content = read_file(arena, path, LOG_TAIL, true);
    if (content == NULL)
        return;
    char *rest = NULL,
         *last = arena_strdup(arena, cli_last_lines(content, LOG_LINES));
    for (char *line = strtok_r(last, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        text_print_safe(log, "  %s\n", line);
}

enum ht_status cli_server_start(struct arena *arena, const char *folder,
                                const char *const flags[],
                                struct cli_server_info *info,
                                struct ht_error *err)
{
    enum { MOST_FLAGS = 64 };
    const char *args[MOST_FLAGS + 3] = {"--data", folder};
    for (size_t i = 0; flags[i] != NULL && i < MOST_FLAGS; i++)
        args[i + 2] = flags[i];
    struct cli_spawn spawn = {.program = "hypertuned",
                              .args = args,
                              .folder = folder,
                              .log = "server.log"};
    pid_t pid;
    enum ht_status status = cli_spawn_detached(arena, &spawn, &pid, err);
    return status == HT_OK ? await_server(arena, folder, pid, info, err)
                           : status;
}

/* A stopping server has removed server.json and still holds the lock; one that
 * a person starts holds the lock and has no server.json yet. HT_NOT_FOUND: the
 * server has ended. */
static enum ht_status await_other(struct arena *arena, const char *folder,
                                  struct cli_server_info *info,
                                  struct ht_error *err)
{
    const char *lock = arena_printf(arena, "%s/lock", folder);
    int64_t deadline = clock_monotonic_ms() + START_MS;
    for (;;) {
        bool held = program_holds(lock);
        enum ht_status status = cli_server_find(arena, folder, info, err);
        if (!held || status != HT_NOT_FOUND)
            return status;
        if (clock_monotonic_ms() >= deadline)
            return ht_fail(err, HT_UNAVAILABLE,
                           "a server holds %s and is not ready", lock);
        pause_ms(POLL_MS);
    }
}

/* With start.lock held: no other process starts a server for this folder. */
static enum ht_status start_alone(struct arena *arena, const char *folder,
                                  struct cli_server_info *info, bool *started,
                                  struct ht_error *err)
{
    static const char *const flags[] = {"--on-demand", NULL};
    enum ht_status status = await_other(arena, folder, info, err);
    if (status != HT_NOT_FOUND)
        return status;
    /* The file of a dead server must not be taken for the new one's. */
    unlink(arena_printf(arena, "%s/server.json", folder));
    status = cli_server_start(arena, folder, flags, info, err);
    *started = status == HT_OK;
    return status;
}

enum ht_status cli_server_ensure(struct arena *arena, const char *folder,
                                 struct cli_server_info *info, bool *started,
                                 struct text *log, struct ht_error *err)
{
    *started = false;
    enum ht_status status = cli_server_find(arena, folder, info, err);
    if (status != HT_NOT_FOUND)
        return status;
    status = cli_server_make_folder(arena, folder, err);
    if (status != HT_OK)
        return status;
    char *real = realpath(folder, NULL); /* the server's cwd is another one */
    if (real == NULL)
        return ht_fail_errno(err, errno, "cannot use %s", folder);
    folder = arena_strdup(arena, real);
    free(real);
    char *guard = arena_printf(arena, "%s/start.lock", folder);
    int fd = open(guard, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        status = ht_fail_errno(err, errno, "cannot lock %s", guard);
    } else {
        status = start_alone(arena, folder, info, started, err);
        if (status == HT_UNAVAILABLE)
            cli_server_log_tail(arena, folder, "server.log", log);
    }
    if (fd >= 0)
        close(fd);
    return status;
}
