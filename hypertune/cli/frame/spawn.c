#include "hypertune/cli/frame/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/program.h"
#include "proto/base/text.h"
#include "proto/base/whole.h"

enum { READ_BYTES = 4096 };

static char **make_argv(struct arena *arena, const char *first,
                        const char *const rest[])
{
    size_t n = 0;
    while (rest[n] != NULL)
        n++;
    char **argv = arena_alloc(arena, n + 2, sizeof *argv);
    argv[0] = arena_strdup(arena, first);
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = arena_strdup(arena, rest[i]);
    return argv;
}

/* Starts it with the descriptors that `files` opens and no others, no signal
 * mask and no handler of ours, in its own session or group (`alone`). Releases
 * `files`; returns 0 or an errno. */
static int start(const char *program, char *const argv[],
                 posix_spawn_file_actions_t *files, short alone, pid_t *pid)
{
    sigset_t none, all;
    posix_spawnattr_t attributes;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_addclosefrom_np(files, 3);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(
        &attributes,
        (short)(alone | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    const int rc =
        posix_spawnp(pid, program, files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(files);
    return rc;
}

enum ht_status cli_spawn_detached(struct arena *arena,
                                  const struct cli_spawn *spawn, pid_t *pid,
                                  struct ht_error *err)
{
    const char *program = program_find(arena, spawn->program);
    char *log = arena_printf(arena, "%s/%s", spawn->folder, spawn->log);
    char **argv = make_argv(arena, spawn->program, spawn->args);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log,
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawn_file_actions_addchdir_np(&files, spawn->folder);
    const int rc = start(program, argv, &files, POSIX_SPAWN_SETSID, pid);
    if (rc != 0)
        return ht_fail_errno(err, rc, "cannot start %s", program);
    return HT_OK;
}

/* ---- asking ---- */

/* A file without a name that has the text; -1: there is none. */
static int open_input(const char *text)
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 &&
        (!whole_write(fd, text, strlen(text)) || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool start_asked(const char *const argv[], const char *input, int out,
                        pid_t *pid)
{
    const int in = input != NULL ? open_input(input) : -1;
    if (input != NULL && in < 0)
        return false;
    struct arena *arena = arena_new();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&files, in, 0);
    else
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, out, 2);
    const int rc = start(argv[0], make_argv(arena, argv[0], argv + 1), &files,
                         POSIX_SPAWN_SETPGROUP, pid);
    arena_free(arena);
    if (in >= 0)
        close(in);
    return rc == 0;
}

/* Reads until the other end is closed; false when the time was up. */
static bool drain(int fd, int64_t most_ms, struct text *said)
{
    int64_t deadline = clock_monotonic_ms() + most_ms;
    char part[READ_BYTES];
    for (;;) {
        int64_t left = deadline - clock_monotonic_ms();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&ready, 1, (int)left) < 0)
            return false;
        if (ready.revents == 0)
            continue;
        ssize_t n = read(fd, part, sizeof part);
        if (n <= 0)
            return true;
        const size_t room = CLI_SPAWN_BYTES - said->len;
        text_append(said, part, (size_t)n < room ? (size_t)n : room);
    }
}

int cli_spawn_ask(struct arena *arena, const char *const argv[],
                  int64_t most_ms, const char **output)
{
    return cli_spawn_feed(arena, argv, NULL, most_ms, output);
}

int cli_spawn_feed(struct arena *arena, const char *const argv[],
                   const char *input, int64_t most_ms, const char **output)
{
    int ends[2];
    pid_t pid;
    struct text said = {0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    bool started = start_asked(argv, input, ends[1], &pid);
    close(ends[1]);
    bool whole = started && drain(ends[0], most_ms, &said);
    close(ends[0]);
    if (!started)
        return -1;
    if (!whole)
        kill(-pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    *output = text_take(&said, arena);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
