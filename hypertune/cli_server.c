#include "hypertune/cli_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proto/clock.h"
#include "proto/diag.h"
#include "proto/node.h"

enum {
    START_MS = 10000,
    POLL_MS = 20,
    LOG_TAIL = 2048, /* bytes of server.log that are looked at */
    LOG_LINES = 5,   /* of them shown */
    MAX_JSON = 16384
};

const char *cli_server_state_folder(struct arena *arena,
                                    const struct cli_server_homes *homes)
{
    if (homes->own != NULL && homes->own[0] != '\0')
        return homes->own;
    /* The XDG rule: a relative value is ignored. */
    if (homes->state != NULL && homes->state[0] == '/')
        return arena_printf(arena, "%s/hypertune", homes->state);
    if (homes->home != NULL && homes->home[0] == '/')
        return arena_printf(arena, "%s/.local/state/hypertune", homes->home);
    return NULL;
}

/* The first (or last) `max` bytes; NULL when the file cannot be read. */
static char *read_file(struct arena *arena, const char *path, size_t max,
                       bool tail)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    if (tail && lseek(fd, 0, SEEK_END) > (off_t)max)
        lseek(fd, -(off_t)max, SEEK_END);
    else
        lseek(fd, 0, SEEK_SET);
    char *content = arena_alloc(arena, max + 1, 1);
    size_t len = 0;
    ssize_t n;
    while (len < max && (n = read(fd, content + len, max - len)) > 0)
        len += (size_t)n;
    close(fd);
    return content;
}

/* A shared lock that can be had means that nobody holds the exclusive one. */
static bool is_held(struct arena *arena, const char *folder)
{
    int fd = open(arena_printf(arena, "%s/lock", folder), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

static bool is_loopback(const char *url)
{
    enum { HOST_BYTES = 64 };
    char host[HOST_BYTES];
    struct in_addr address;
    if (strncmp(url, "http://[::1]:", 13) == 0)
        return true;
    if (strncmp(url, "http://", 7) != 0)
        return false;
    size_t len = strcspn(url + 7, ":/");
    if (len >= sizeof host)
        return false;
    memcpy(host, url + 7, len);
    host[len] = '\0';
    return strcmp(host, "localhost") == 0 ||
           (inet_pton(AF_INET, host, &address) == 1 &&
            ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

enum ht_status cli_server_find(struct arena *arena, const char *folder,
                               struct cli_server_info *info,
                               struct ht_error *err)
{
    /* The lock is probed only once server.json is there: a server that is
     * just starting must not find our shared lock in its way. */
    char *path = arena_printf(arena, "%s/server.json", folder);
    char *json = read_file(arena, path, MAX_JSON, false);
    if (json == NULL || !is_held(arena, folder))
        return ht_fail(err, HT_NOT_FOUND, "no server runs in %s", folder);
    struct diag diag;
    diag_init(&diag, arena, path, NULL, 0);
    const struct node *root = node_read_json(arena, json, strlen(json), &diag);
    const char *url = node_get_string(root, "http", NULL);
    if (url == NULL)
        return ht_fail(err, HT_CORRUPT, "%s does not say \"http\"", path);
    if (!is_loopback(url))
        return ht_fail(err, HT_CORRUPT,
                       "%s names %s, which is not this machine; use --server",
                       path, url);
    info->url = url;
    info->token_file = arena_printf(arena, "%s/token", folder);
    return HT_OK;
}

const char *cli_server_program(struct arena *arena, const char *name)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return name;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash == NULL)
        return name;
    char *beside =
        arena_printf(arena, "%.*s/%s", (int)(slash - self), self, name);
    return access(beside, X_OK) == 0 ? beside : name;
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

static enum ht_status spawn_server(struct arena *arena, const char *folder,
                                   pid_t *pid, struct ht_error *err)
{
    const char *program = cli_server_program(arena, "hypertuned");
    char *log = arena_printf(arena, "%s/server.log", folder);
    char *argv[] = {arena_strdup(arena, "hypertuned"),
                    arena_strdup(arena, "--data"), arena_strdup(arena, folder),
                    arena_strdup(arena, "--on-demand"), NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log,
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawn_file_actions_addchdir_np(&files, folder);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID |
                                              POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawnp(pid, program, &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (rc != 0)
        return ht_fail_errno(err, rc, "cannot start %s", program);
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

static void read_log(struct arena *arena, const char *folder, struct text *log)
{
    char *path = arena_printf(arena, "%s/server.log", folder);
    char *content = read_file(arena, path, LOG_TAIL, true);
    if (content == NULL)
        return;
    char *start = content + strlen(content);
    for (int lines = 0; start > content; start--) {
        if (start[-1] == '\n' && start[0] != '\0' && ++lines == LOG_LINES)
            break;
    }
    char *rest = NULL;
    for (char *line = strtok_r(start, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        text_puts(log, "  ");
        text_escape(log, line);
        text_puts(log, "\n");
    }
}

/* With start.lock held: nobody else starts a server for this folder now. */
static enum ht_status start_alone(struct arena *arena, const char *folder,
                                  struct cli_server_info *info, bool *started,
                                  struct ht_error *err)
{
    enum ht_status status = cli_server_find(arena, folder, info, err);
    if (status != HT_NOT_FOUND)
        return status;
    /* What a dead server left behind must not be taken for the new one's. */
    unlink(arena_printf(arena, "%s/server.json", folder));
    pid_t pid;
    status = spawn_server(arena, folder, &pid, err);
    if (status != HT_OK)
        return status;
    status = await_server(arena, folder, pid, info, err);
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
            read_log(arena, folder, log);
    }
    if (fd >= 0)
        close(fd);
    return status;
}
