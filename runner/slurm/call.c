#include "runner/slurm/call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/base/whole.h"
#include "runner/base/child.h"

enum {
    MOST_BYTES = 64 << 20,
    NO_PROGRAM = 127, /* by which a shell says so */
    SSH_FAILED = 255
};

/* A file, since a pipe would need care for programs that do not read it. */
static int make_input(const char *input)
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 && whole_write(fd, input, strlen(input)) &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

const char *const *call_words(struct arena *arena,
                              const struct call_place *place,
                              const char *const argv[])
{
    if (place->ssh == NULL)
        return argv;
    struct text remote = {0};
    for (size_t i = 0; argv[i] != NULL; i++) {
        text_puts(&remote, i > 0 ? " " : "");
        text_shell_word(&remote, argv[i]);
    }
    /* Without its master ssh would connect itself: the proxy prevents that. */
    const char *const words[] = {
        "ssh",
        "-T",
        "-o",
        "BatchMode=yes",
        "-o",
        "ControlMaster=no",
        "-o",
        "ProxyCommand=false",
        "-o",
        arena_printf(arena, "ControlPath=%s", place->control),
        "--",
        place->ssh,
        text_take(&remote, arena),
        NULL};
    const char **copy =
        arena_alloc(arena, sizeof words / sizeof *words, sizeof *copy);
    memcpy(copy, words, sizeof words);
    return copy;
}

/* False: the time is over, or the last of them, by which a call is aborted, can
 * be read. */
static bool wait_for(struct pollfd *wanted, nfds_t n, int64_t until_ms)
{
    for (;;) {
        const int64_t left = until_ms - clock_monotonic_ms();
        if (left <= 0)
            return false;
        if (poll(wanted, n, (int)left) > 0)
            return wanted[n - 1].revents == 0;
    }
}

/* Appends what is there; false: no more comes. */
static bool read_some(int fd, struct text *said)
{
    char bytes[16 * 1024];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    if (n > 0)
        text_append(said, bytes, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static struct pollfd abort_of(const struct call_place *place)
{
    return (struct pollfd){.fd = place->abort > 0 ? place->abort : -1,
                           .events = POLLIN};
}

/* Everything from both; false: too much, or too slow. */
static bool read_both(const struct call_place *place, const int fds[2],
                      struct text said[2], int64_t until_ms)
{
    struct pollfd wanted[3] = {{.fd = fds[0], .events = POLLIN},
                               {.fd = fds[1], .events = POLLIN},
                               abort_of(place)};
    while (wanted[0].fd >= 0 || wanted[1].fd >= 0) {
        if (said[0].len + said[1].len > MOST_BYTES ||
            !wait_for(wanted, 3, until_ms))
            return false;
        for (int i = 0; i < 2; i++) {
            if (wanted[i].revents != 0 && !read_some(fds[i], &said[i]))
                wanted[i].fd = -1;
        }
    }
    return true;
}

/* Waits for its end, or kills it; its status of waitpid(). */
static int reap(const struct call_place *place, pid_t pid, bool wanted,
                int64_t until_ms)
{
    struct pollfd ends[2] = {
        {.fd = wanted ? pidfd_open(pid, 0) : -1, .events = POLLIN},
        abort_of(place)};
    if (ends[0].fd < 0 || !wait_for(ends, 2, until_ms))
        kill(-pid, SIGKILL);
    if (ends[0].fd >= 0)
        close(ends[0].fd);
    return child_reap(pid);
}

static int start(const char *const argv[], const char *input, int fds[2],
                 pid_t *pid)
{
    int output[2], errors[2], code;
    if (pipe2(output, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(errors, O_CLOEXEC) != 0) {
        code = errno;
        close(output[0]);
        close(output[1]);
        return code;
    }
    const int script = input != NULL ? make_input(input) : -1;
    /* Its own group, so that a slow one is ended with all it started. */
    const struct child child = {.argv = argv,
                                .input = script,
                                .output = output[1],
                                .errors = errors[1],
                                .group = POSIX_SPAWN_SETPGROUP};
    code = input != NULL && script < 0 ? EMFILE : child_start_kept(&child, pid);
    if (script >= 0)
        close(script);
    close(output[1]);
    close(errors[1]);
    fds[0] = output[0];
    fds[1] = errors[0];
    if (code != 0) {
        close(fds[0]);
        close(fds[1]);
    }
    return code;
}

/* What a status of waitpid() and the words mean; `program`: Slurm's. */
static enum ht_status judge(const struct call_place *place, const char *program,
                            int status, const struct call_answer *answer,
                            struct ht_error *err)
{
    if (!WIFEXITED(status))
        return ht_fail(err, HT_UNAVAILABLE, "%s was killed, or was too slow",
                       program);
    if (place->ssh != NULL && answer->exit == SSH_FAILED)
        return ht_fail(err, HT_UNAVAILABLE,
                       "no connection to %s is open; a person opens one by "
                       "`hypertune runners connect %s`",
                       place->ssh, place->ssh);
    if (answer->exit == NO_PROGRAM)
        return ht_fail(err, HT_NOT_FOUND, "there is no %s%s%s", program,
                       place->ssh != NULL ? " at " : "",
                       place->ssh != NULL ? place->ssh : "");
    return HT_OK;
}

/* The program behind env and its variables. */
static const char *program_of(const char *const argv[])
{
    size_t i = 0;
    if (strcmp(argv[0], "env") == 0)
        for (i = 1; strchr(argv[i], '=') != NULL;)
            i++;
    return argv[i];
}

enum ht_status call_run(struct arena *arena, const struct call_place *place,
                        const struct call *call, struct call_answer *answer,
                        struct ht_error *err)
{
    const char *program = program_of(call->argv);
    struct text said[2] = {{0}};
    int fds[2] = {-1, -1};
    pid_t pid = -1;
    const int code =
        start(call_words(arena, place, call->argv), call->input, fds, &pid);
    if (code == ENOENT)
        return ht_fail(err, HT_NOT_FOUND, "there is no %s in PATH",
                       place->ssh != NULL ? "ssh" : program);
    if (code != 0)
        return ht_fail(err, HT_UNAVAILABLE, "cannot run %s (error %d)", program,
                       code);
    const bool complete = read_both(place, fds, said, call->until_ms);
    close(fds[0]);
    close(fds[1]);
    const int status = reap(place, pid, complete, call->until_ms);
    *answer = (struct call_answer){.exit = WEXITSTATUS(status),
                                   .output = text_take(&said[0], arena),
                                   .errors = text_take(&said[1], arena)};
    return judge(place, program, status, answer, err);
}
