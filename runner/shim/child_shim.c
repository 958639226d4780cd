/* child_shim.c - a shim in a process of its own. */
#include "runner/shim/child_shim.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/base/folder.h"
#include "runner/base/procfs.h"
#include "runner/shim/image.h"

enum {
    PASS_MS = 300, /* in which a cluster has signalled all processes, if it
                      does */
    LEFTOVER_BOUND_MS = 5000
};

void child_shim_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("hypertune: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

int child_shim_signals(int signals)
{
    struct signalfd_siginfo info;
    int number = 0;
    while (read(signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD)
            number = (int)info.ssi_signo;
    }
    return number;
}

void child_shim_end(const char *folder, const char *reason)
{
    struct ht_error err;
    const int64_t now = clock_wall_ms();
    struct ending ending = {.started_ms = now, .ended_ms = now};
    folder_end(&ending, OUTCOME_LOST, "%s", reason);
    if (folder_write_exit(folder, &ending, &err) != HT_OK)
        child_shim_say("%s", err.text);
}

/* The first process reaps all. Elsewhere another child is waited for by the
 * code that has started it. */
static bool has_ended(pid_t shim, int *status)
{
    const pid_t wanted = getpid() == 1 ? -1 : shim;
    pid_t pid;
    do
        pid = waitpid(wanted, status, WNOHANG);
    while (pid > 0 && pid != shim);
    return pid != 0;
}

void child_shim_reap(void)
{
    while (getpid() == 1 && waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

/* Waits for the shim, and passes on what the cluster says. */
static int supervise(const struct shim_batch *batch, pid_t shim, int signals,
                     bool *ending)
{
    int64_t pass_at = INT64_MAX;
    int status;
    while (!has_ended(shim, &status)) {
        const int64_t left = pass_at - clock_monotonic_ms();
        if (left <= 0) {
            kill(shim, SIGTERM);
            pass_at = INT64_MAX;
            continue;
        }
        struct pollfd fd = {.fd = signals, .events = POLLIN};
        poll(&fd, 1, pass_at < INT64_MAX ? (int)left : -1);
        const int number = child_shim_signals(signals);
        *ending = *ending || number != 0;
        if (number == SIGUSR1 && !batch->in_pod)
            kill(shim, SIGUSR1);
        else if (number != 0 && pass_at == INT64_MAX)
            pass_at = clock_monotonic_ms() + PASS_MS;
    }
    return status;
}

void child_shim_run(const char *folder, const struct shim_batch *batch,
                    int signals, bool *ending)
{
    const pid_t self = getpid();
    const pid_t shim = fork();
    if (shim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        _exit(getppid() == self ? shim_run(folder, batch) : SHIM_FAILED);
    }
    if (shim < 0) {
        child_shim_end(folder, "no process could be made");
        return;
    }
    const int status = supervise(batch, shim, signals, ending);
    image_clean(folder); /* the filter of the shim forbids it there */
    if (WIFEXITED(status) && WEXITSTATUS(status) == SHIM_DONE)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == SHIM_TAKEN) {
        child_shim_say("%s belongs to another process", folder);
        return;
    }
    procfs_kill_leftovers(folder, NULL, LEFTOVER_BOUND_MS);
    child_shim_end(folder, WIFSIGNALED(status)
                               ? "its supervisor process was killed"
                               : "its supervisor process could not write its "
                                 "end");
}
