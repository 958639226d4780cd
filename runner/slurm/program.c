#include "runner/slurm/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/base/whole.h"
#include "runner/base/child.h"
#include "runner/slurm/slurm.h"

enum { MOST_OUTPUT = 64 * 1024 * 1024, SSH_FAILED = 255, NO_PROGRAM = 127 };

/* The words for ssh: the far shell sees each of argv as one word. */
static const char *const *far_words(struct arena *arena,
                                    const struct program_place *place,
                                    const char *const argv[])
{
    struct text line = {0};
    for (size_t i = 0; argv[i] != NULL; i++) {
        if (i > 0)
            text_puts(&line, " ");
        text_shell_word(&line, argv[i]);
    }
    /* Without a master ssh would connect by itself and ask, or be refused, at
     * each call: its connection is a program that ends at once. */
    const char *const words[] = {
        "ssh",
        "-o",
        "BatchMode=yes",
        "-o",
        "ControlMaster=no",
        "-o",
        arena_printf(arena, "ControlPath=%s", place->socket),
        "-o",
        "ProxyCommand=false",
        "--",
        place->ssh,
        text_take(&line, arena),
        NULL};
    const char **copy =
        arena_alloc(arena, sizeof words / sizeof *words, sizeof *copy);
    memcpy(copy, words, sizeof words);
    return copy;
}

/* A file in memory, so that writing it never waits for the reader. */
static int hold_input(const char *input)
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 && (!whole_write_at(fd, input, strlen(input), 0) ||
                    lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Reads until the end, the deadline or too much; true: the end. */
static bool read_output(int fd, struct text *out, int64_t deadline)
{
    char buffer[16384];
    for (;;) {
        const int64_t left = deadline - clock_monotonic_ms();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (left <= 0 || out->len > MOST_OUTPUT)
            return false;
        if (poll(&ready, 1, (int)left) <= 0)
            continue;
        const ssize_t n = read(fd, buffer, sizeof buffer);
        if (n == 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            text_append(out, buffer, (size_t)n);
    }
}

/* Runs the child; *in_time: its output has ended. Returns 0 or an errno. */
static int run_child(const char *const *words, int input, struct text *out,
                     int *status, bool *in_time)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    pid_t pid = 0;
    const struct child child = {.argv = words,
                                .input = input,
                                .output = ends[1],
                                .joined = true,
                                .group = POSIX_SPAWN_SETSID};
    const int code = child_start_kept(&child, &pid);
    close(ends[1]);
    if (code == 0) {
        *in_time =
            read_output(ends[0], out, clock_monotonic_ms() + SLURM_PATIENCE_MS);
        if (!*in_time)
            (void)kill(-pid, SIGKILL);
        *status = child_reap(pid);
    }
    close(ends[0]);
    return code;
}

static enum ht_status check(const struct program_place *place,
                            const char *program, bool in_time, int code,
                            struct ht_error *err)
{
    if (!in_time)
        return ht_fail(err, HT_UNAVAILABLE, "%s did not end within %d s",
                       program, SLURM_PATIENCE_MS / 1000);
    if (place->ssh != NULL && code == SSH_FAILED)
        return ht_fail(err, HT_UNAVAILABLE,
                       "there is no open connection to %s: open one with "
                       "`hypertune runners connect`",
                       place->ssh);
    if (code == NO_PROGRAM)
        return ht_fail(err, HT_NOT_FOUND, "%s: there is no program %s",
                       place->ssh != NULL ? place->ssh : "this machine",
                       program);
    return HT_OK;
}

enum ht_status program_run(const struct program_place *place,
                           const char *const argv[], const char *input,
                           struct arena *arena, const char **output, int *code,
                           struct ht_error *err)
{
    const char *const *words =
        place->ssh != NULL ? far_words(arena, place, argv) : argv;
    const int fd = input != NULL ? hold_input(input) : -1;
    if (input != NULL && fd < 0)
        return ht_fail_errno(err, errno, "%s: its input", argv[0]);
    struct text out = {0};
    int status = 0;
    bool in_time = false;
    const int failed = run_child(words, fd, &out, &status, &in_time);
    if (fd >= 0)
        close(fd);
    *output = text_take(&out, arena);
    if (failed != 0)
        return ht_fail(err, failed == ENOENT ? HT_NOT_FOUND : HT_UNAVAILABLE,
                       "%s: %s", words[0], strerrordesc_np(failed));
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return check(place, argv[0], in_time, *code, err);
}
