#include "runner/base/ask_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/whole.h"
#include "runner/base/child.h"

enum { MOST_ERRORS = 4096 };

/* A file, since a pipe would need care for programs that never read. */
static int make_input(const char *input)
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 ||
        (whole_write(fd, input, strlen(input)) && lseek(fd, 0, SEEK_SET) == 0))
        return fd;
    close(fd);
    return -1;
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* Its stdout and stderr, to read. */
static int start(const struct child_question *question, int fds[2], pid_t *pid)
{
    int output[2], errors[2];
    if (pipe2(output, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(errors, O_CLOEXEC) != 0) {
        const int code = errno;
        close_both(output);
        return code;
    }
    const int input =
        question->input != NULL ? make_input(question->input) : -1;
    /* Its own group, so that a slow one is ended with all it started. */
    const struct child child = {.argv = question->argv,
                                .env = question->env,
                                .input = input,
                                .output = output[1],
                                .errors = errors[1],
                                .group = POSIX_SPAWN_SETPGROUP};
    const int code = question->input != NULL && input < 0
                         ? EMFILE
                         : child_start_kept(&child, pid);
    if (input >= 0)
        close(input);
    close(output[1]);
    close(errors[1]);
    fds[0] = output[0];
    fds[1] = errors[0];
    if (code != 0)
        close_both(fds);
    return code;
}

/* False: the time is over. */
static bool wait_for(struct pollfd *wanted, nfds_t n, int64_t deadline_ms)
{
    for (;;) {
        const int64_t left = deadline_ms - clock_monotonic_ms();
        if (left <= 0)
            return false;
        if (poll(wanted, n, (int)left) > 0)
            return true;
    }
}

/* What is there, of which `most` bytes at most are kept; false: it has ended.
 */
static bool read_some(int fd, struct text *said, size_t most)
{
    char bytes[4096];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    const size_t room = said->len < most ? most - said->len : 0;
    if (n > 0)
        text_append(said, bytes, (size_t)n < room ? (size_t)n : room);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* All of its output, until the last process that has it ends; false: too much,
 * or too slow. */
static bool read_output(const struct child_question *question, const int fds[2],
                        struct child_answer *answer)
{
    struct pollfd wanted[2] = {{.fd = fds[0], .events = POLLIN},
                               {.fd = fds[1], .events = POLLIN}};
    for (;;) {
        if (answer->output.len > question->most ||
            !wait_for(wanted, 2, question->deadline_ms))
            return false;
        if (wanted[1].revents != 0 &&
            !read_some(fds[1], &answer->errors, MOST_ERRORS))
            wanted[1].fd = -1;
        if (wanted[0].revents != 0 &&
            !read_some(fds[0], &answer->output, question->most + 1))
            return true;
    }
}

/* What it has left at its stderr, which a process that it started may keep. */
static void read_rest(int fd, struct child_answer *answer)
{
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        return;
    while (answer->errors.len < MOST_ERRORS &&
           read_some(fd, &answer->errors, MOST_ERRORS))
        continue;
}

int child_ask(const struct child_question *question,
              struct child_answer *answer)
{
    int fds[2] = {-1, -1};
    pid_t pid;
    const int code = start(question, fds, &pid);
    if (code != 0)
        return code;
    *answer = (struct child_answer){0};
    const bool complete = read_output(question, fds, answer);
    struct pollfd end = {.fd = complete ? pidfd_open(pid, 0) : -1,
                         .events = POLLIN};
    if (end.fd < 0 || !wait_for(&end, 1, question->deadline_ms))
        kill(-pid, SIGKILL);
    if (end.fd >= 0)
        close(end.fd);
    answer->status = child_reap(pid);
    read_rest(fds[1], answer);
    close_both(fds);
    return 0;
}
