#include "runner/docker/credential_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"

enum { MOST_BYTES = 64 * 1024 };

struct helper {
    char *program;
    pid_t pid;
    int output; /* its stdout */
    int64_t deadline_ms;
    struct text said;
};

/* ---- starting ---- */

/* A file that the helper finds at its stdin: a pipe would need care for helpers
 * that never read. */
static int make_input(const char *server)
{
    const int fd = memfd_create("server", MFD_CLOEXEC);
    const size_t len = strlen(server);
    if (fd < 0)
        return -1;
    if (write(fd, server, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Its own group, so that a slow one is ended with all it started, and none of
 * the signal settings of our thread. */
static int spawn(struct helper *helper, int input, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                              POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (code == 0)
        code = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null",
                                                O_WRONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    char *const argv[] = {helper->program, (char[]){"get"}, NULL};
    if (code == 0)
        code = posix_spawnp(&helper->pid, helper->program, &actions,
                            &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return code;
}

static enum ht_status start(struct helper *helper, const char *server,
                            struct ht_error *err)
{
    int ends[2];
    const int input = make_input(server);
    if (input < 0)
        return ht_fail_errno(err, errno, "%s", helper->program);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        const int code = errno;
        close(input);
        return ht_fail_errno(err, code, "%s", helper->program);
    }
    const int code = spawn(helper, input, ends[1]);
    close(input);
    close(ends[1]);
    helper->output = ends[0];
    if (code == 0)
        return HT_OK;
    close(ends[0]);
    return ht_fail_errno(err, code, "cannot run %s", helper->program);
}

/* ---- listening ---- */

/* False when the time is over. */
static bool wait_for(const struct helper *helper, int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    for (;;) {
        const int64_t left = helper->deadline_ms - clock_monotonic_ms();
        if (left <= 0)
            return false;
        if (poll(&wanted, 1, (int)left) > 0)
            return true;
    }
}

/* All it says; false when that is too much or takes too long. */
static bool listen_to(struct helper *helper)
{
    char bytes[4096];
    while (helper->said.len <= MOST_BYTES && wait_for(helper, helper->output)) {
        const ssize_t n = read(helper->output, bytes, sizeof bytes);
        if (n == 0)
            return true;
        if (n > 0)
            text_append(&helper->said, bytes, (size_t)n);
        else if (errno != EINTR)
            return false;
    }
    return false;
}

/* Waits for its end, or makes it. */
static int reap(const struct helper *helper, bool wanted)
{
    const int fd = wanted ? pidfd_open(helper->pid, 0) : -1;
    if (fd < 0 || !wait_for(helper, fd))
        kill(-helper->pid, SIGKILL);
    if (fd >= 0)
        close(fd);
    int status = 0;
    while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* What it says when it fails may hold what must not be shown, so only its known
 * words for "none" count. */
static enum ht_status read_words(struct arena *arena, struct helper *helper,
                                 int exit, const struct node **found,
                                 struct ht_error *err)
{
    static const char none[] = "credentials not found";
    const char *words = helper->said.data != NULL ? helper->said.data : "";
    if (WIFSIGNALED(exit))
        return ht_fail(err, HT_IO, "%s was killed, or was too slow",
                       helper->program);
    if (WEXITSTATUS(exit) != 0 && strncmp(words, none, sizeof none - 1) == 0) {
        *found = NULL;
        return HT_OK;
    }
    if (WEXITSTATUS(exit) != 0)
        return ht_fail(err, HT_IO, "%s failed with code %d", helper->program,
                       WEXITSTATUS(exit));
    struct diag diag;
    diag_init(&diag, arena, helper->program, NULL, 0);
    const struct node *map =
        node_read_json(arena, words, helper->said.len, &diag);
    if (node_get_string(map, "Username", NULL) == NULL ||
        node_get_string(map, "Secret", NULL) == NULL)
        return ht_fail(err, HT_IO, "%s did not answer with credentials",
                       helper->program);
    *found = map;
    return HT_OK;
}

enum ht_status credential_helper_get(struct arena *arena, const char *name,
                                     const char *server, int limit_ms,
                                     const struct node **found,
                                     struct ht_error *err)
{
    if (name[0] == '\0' || strchr(name, '/') != NULL)
        return ht_fail(err, HT_INVALID, "\"%s\" is no name of a helper", name);
    struct helper helper = {
        .program = arena_printf(arena, "docker-credential-%s", name),
        .deadline_ms = clock_monotonic_ms() + limit_ms,
    };
    enum ht_status status = start(&helper, server, err);
    if (status != HT_OK)
        return status;
    const bool heard = listen_to(&helper);
    close(helper.output);
    const int exit = reap(&helper, heard);
    status = read_words(arena, &helper, exit, found, err);
    text_free(&helper.said);
    return status;
}
