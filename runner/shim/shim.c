#include "runner/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/base/cgroup.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/procfs.h"
#include "runner/shim/confine.h"
#include "runner/shim/filter.h"
#include "runner/shim/log.h"
#include "runner/shim/trainer.h"

enum {
    POLL_MS = 100,        /* between checks of `stop` without inotify */
    WATCH_AFTER_MS = 100, /* inotify costs its process 10 ms at the end */
    LEFTOVER_BOUND_MS =
        10000,             /* for processes that SIGKILL does not end at once */
    DRAIN_BOUND_MS = 2000, /* for output of a process that keeps a pipe open */
    FULL_DISK_TRIES = 60,  /* one a second, until exit.json fits */
    CHUNK = 64 * 1024
};

enum phase { PHASE_RUNNING, PHASE_TERMINATING, PHASE_KILLING };

struct shim {
    const char *folder;
    int folder_fd; /* with the lock: one shim per folder */
    struct arena *arena;
    struct folder_id id;
    struct launch launch;
    int signals;      /* signalfd: SIGCHLD, SIGTERM, SIGINT, SIGHUP */
    int watch;        /* inotify on the folder, -1: check every POLL_MS */
    int64_t watch_at; /* monotonic: when to try inotify; INT64_MAX: never */
    struct trainer trainer;
    struct shim_log logs[2];
    bool ended;
    int wait_status;
    enum phase phase;
    int64_t timeout_at;   /* monotonic; INT64_MAX: never */
    int64_t kill_at;      /* end of the grace; INT64_MAX: never */
    struct ending ending; /* outcome and reason once the shim ended it */
    char buffer[CHUNK];
};

/* ---- set-up ---- */

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_SETMASK, &set, NULL);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, the kernel would reap */
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_watch(const char *folder)
{
    const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd >= 0 && inotify_add_watch(fd, folder, IN_CREATE | IN_MOVED_TO) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* SHIM_DONE: this process may start the trainer, unless it has *finished. */
static int take_folder(struct shim *shim, bool *finished)
{
    shim->folder_fd = open(shim->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (shim->folder_fd < 0)
        return SHIM_FAILED;
    if (flock(shim->folder_fd, LOCK_EX | LOCK_NB) != 0)
        return SHIM_TAKEN;
    folder_identify(&shim->id, shim->folder);
    *finished = disk_has(shim->folder, "exit.json");
    if (!*finished && disk_has(shim->folder, "shim.json"))
        return SHIM_TAKEN;
    return SHIM_DONE;
}

/* Without shim.json no other shim ran here, except before a power cut. A
 * container may have no /proc: there the identity is not needed. */
static enum ht_status announce(const struct shim *shim, struct ht_error *err)
{
    struct process self;
    const char *boot = shim->launch.boot;
    if (procfs_identify(getpid(), &self, NULL) != HT_OK)
        self = (struct process){.pid = getpid()};
    else if (boot != NULL && strcmp(boot, self.boot) != 0)
        return ht_fail(err, HT_PRECONDITION, "the machine was restarted");
    return folder_write_shim(shim->folder, &self, err);
}

/* Variables that the container sets best, such as its user's HOME. */
static void take_inherited(struct arena *arena, struct launch *launch)
{
    const size_t room = launch->env.n + launch->inherited.n + 1;
    struct pair *items = arena_alloc(arena, room, sizeof *items);
    size_t n = 0;
    for (; n < launch->env.n; n++)
        items[n] = launch->env.items[n];
    for (size_t i = 0; i < launch->inherited.n; i++) {
        const char *name = launch->inherited.items[i];
        const char *value = getenv(name);
        size_t k = 0;
        while (k < launch->env.n && strcmp(items[k].name, name) != 0)
            k++;
        if (value != NULL && k == launch->env.n)
            items[n++] = (struct pair){.name = name, .value = value};
    }
    launch->env = (struct pairs){.n = n, .items = items};
}

static enum ht_status prepare(struct shim *shim, struct ht_error *err)
{
    if (getsid(0) != getpid())
        (void)setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    shim->signals = open_signals();
    if (shim->signals < 0)
        return ht_fail_errno(err, errno, "no signalfd");
    enum ht_status status =
        folder_read_launch(shim->arena, shim->folder, &shim->launch, err);
    if (status == HT_OK)
        status = shim_log_open(&shim->logs[0], shim->folder_fd, "stdout", err);
    if (status == HT_OK)
        status = shim_log_open(&shim->logs[1], shim->folder_fd, "stderr", err);
    if (status == HT_OK)
        status = announce(shim, err);
    if (status == HT_OK)
        take_inherited(shim->arena, &shim->launch);
    return status;
}

/* ---- output ---- */

static void close_output(struct shim *shim, int i)
{
    close(shim->trainer.outputs[i]);
    shim->trainer.outputs[i] = -1;
}

/* False when there is nothing more for now. */
static bool copy_output(struct shim *shim, int i)
{
    if (shim->trainer.outputs[i] < 0)
        return false;
    const ssize_t n =
        read(shim->trainer.outputs[i], shim->buffer, sizeof shim->buffer);
    if (n < 0)
        return errno == EINTR;
    if (n == 0) {
        close_output(shim, i);
        return false;
    }
    shim_log_append(&shim->logs[i], shim->buffer, (size_t)n);
    return true;
}

/* Everything written before the trainer's end is in the pipes by now. */
static void drain_output(struct shim *shim)
{
    const int64_t deadline = clock_monotonic_ms() + DRAIN_BOUND_MS;
    for (int i = 0; i < 2; i++) {
        while (copy_output(shim, i) && clock_monotonic_ms() < deadline)
            continue;
        if (shim->trainer.outputs[i] >= 0)
            close_output(shim, i);
    }
}

/* ---- ending the trainer ---- */

static void signal_trainer(const struct shim *shim, int number)
{
    if (shim->ended)
        return; /* reaped: another process may have the pid */
    kill(-shim->trainer.pid, number);
    kill(shim->trainer.pid, number); /* it may have left its group */
}

static void kill_trainer(struct shim *shim)
{
    shim->phase = PHASE_KILLING;
    shim->kill_at = INT64_MAX;
    signal_trainer(shim, SIGKILL);
}

static void end_trainer(struct shim *shim, enum outcome outcome, bool at_once,
                        const char *reason)
{
    if (shim->phase == PHASE_RUNNING) {
        folder_end(&shim->ending, outcome, "%s", reason);
        shim->phase = PHASE_TERMINATING;
        shim->timeout_at = INT64_MAX;
        shim->kill_at = clock_monotonic_ms() + shim->launch.grace_ms;
        if (!at_once)
            signal_trainer(shim, SIGTERM);
    }
    if (at_once && shim->phase != PHASE_KILLING)
        kill_trainer(shim);
}

static void look_for_stop(struct shim *shim)
{
    struct stop_order order;
    if (folder_read_stop(shim->folder, &order, NULL) != HT_OK)
        return;
    char reason[HT_MAX_REASON];
    (void)snprintf(reason, sizeof reason, "stopped: %.480s",
                   order.reason[0] != '\0' ? order.reason : "on request");
    end_trainer(shim, OUTCOME_STOPPED, order.kill, reason);
}

static void look_at_clock(struct shim *shim)
{
    const int64_t now = clock_monotonic_ms();
    if (now >= shim->watch_at) {
        shim->watch_at = INT64_MAX;
        shim->watch = open_watch(shim->folder);
        look_for_stop(shim); /* an order may be older than the watch */
    }
    if (now >= shim->timeout_at) {
        char limit[CLOCK_DURATION_BYTES];
        char reason[HT_MAX_REASON];
        (void)snprintf(reason, sizeof reason, "ran longer than %s",
                       clock_duration(limit, shim->launch.timeout_ms));
        end_trainer(shim, OUTCOME_TIMEOUT, false, reason);
    }
    if (now >= shim->kill_at)
        kill_trainer(shim);
}

/* ---- the loop ---- */

/* False when no child is left at all. */
static bool reap_children(struct shim *shim)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != shim->trainer.pid)
            continue;
        shim->ended = true;
        shim->wait_status = trainer_status(&shim->trainer, status);
    }
    return pid == 0;
}

static void read_signals(struct shim *shim)
{
    struct signalfd_siginfo info;
    while (read(shim->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
            end_trainer(shim, OUTCOME_STOPPED, false,
                        "stopped: its supervisor got a signal to end");
    }
    reap_children(shim);
}

static void read_watch(struct shim *shim)
{
    while (read(shim->watch, shim->buffer, sizeof shim->buffer) > 0)
        continue;
    look_for_stop(shim);
}

static int wait_ms(const struct shim *shim)
{
    int64_t wake =
        shim->timeout_at < shim->kill_at ? shim->timeout_at : shim->kill_at;
    if (wake == INT64_MAX)
        return shim->watch >= 0 ? -1 : POLL_MS;
    wake -= clock_monotonic_ms();
    const int64_t most = shim->watch >= 0 ? INT32_MAX : POLL_MS;
    return (int)(wake < 0 ? 0 : wake < most ? wake : most);
}

static void supervise(struct shim *shim)
{
    shim->watch_at = clock_monotonic_ms() + WATCH_AFTER_MS;
    look_for_stop(shim); /* an order may be older than this process */
    reap_children(shim);
    while (!shim->ended) {
        struct pollfd fds[] = {
            {.fd = shim->trainer.outputs[0], .events = POLLIN},
            {.fd = shim->trainer.outputs[1], .events = POLLIN},
            {.fd = shim->signals, .events = POLLIN},
            {.fd = shim->watch, .events = POLLIN},
        };
        if (poll(fds, 4, wait_ms(shim)) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < 2; i++) {
            if (fds[i].revents != 0)
                copy_output(shim, i);
        }
        if (fds[2].revents != 0)
            read_signals(shim);
        if (fds[3].revents != 0)
            read_watch(shim);
        else if (shim->watch < 0)
            look_for_stop(shim);
        look_at_clock(shim);
    }
}

/* As subreaper the shim is the parent of every orphan, so nothing of the
 * trainer is left once it has no child. */
static void kill_leftovers(struct shim *shim)
{
    const int64_t deadline = clock_monotonic_ms() + LEFTOVER_BOUND_MS;
    while (reap_children(shim) && clock_monotonic_ms() < deadline) {
        procfs_kill_children();
        struct pollfd fd = {.fd = shim->signals, .events = POLLIN};
        poll(&fd, 1, POLL_MS);
        struct signalfd_siginfo info;
        while (read(shim->signals, &info, sizeof info) > 0)
            continue;
    }
}

/* False, with the ending, when the guest cannot be prepared. */
static bool prepare_guest(struct shim *shim, uid_t *uid)
{
    const struct guest *guest = &shim->launch.guest;
    struct ht_error err;
    if (confine_claim(guest, shim->folder, uid, &err) == HT_OK &&
        cgroup_make(guest, &err) == HT_OK)
        return true;
    folder_end(&shim->ending, OUTCOME_LOST,
               "the trainer could not be confined: %s", err.text);
    return false;
}

static void run_trainer(struct shim *shim)
{
    shim->ending.started_ms = clock_wall_ms();
    uid_t uid;
    if (!prepare_guest(shim, &uid) ||
        !trainer_start(&shim->launch, shim->folder, uid, &shim->trainer,
                       &shim->ending))
        return;
    filter_install();
    if (shim->launch.timeout_ms > 0)
        shim->timeout_at = clock_monotonic_ms() + shim->launch.timeout_ms;
    supervise(shim);
    shim->ending.ended_ms = clock_wall_ms();
    /* A trainer that fails while all replicas are being stopped may fail by the
     * end of another one before this shim has read its order. */
    if (shim->wait_status != 0)
        look_for_stop(shim);
    kill_leftovers(shim);
    drain_output(shim);
    const struct ending ordered = shim->ending;
    trainer_describe(shim->wait_status, &shim->ending);
    if (shim->wait_status != 0 && cgroup_was_full(&shim->launch.guest))
        folder_end(&shim->ending, OUTCOME_FAILED,
                   "killed by signal %d (SIGKILL): it needs more than the "
                   "memory that the runner's --limit gives it",
                   SIGKILL);
    if (shim->phase != PHASE_RUNNING)
        folder_end(&shim->ending, ordered.outcome, "%s", ordered.reason);
}

static int finish(struct shim *shim)
{
    shim_log_close(&shim->logs[0]);
    shim_log_close(&shim->logs[1]);
    if (shim->ending.ended_ms == 0) /* nothing ran */
        shim->ending.ended_ms = clock_wall_ms();
    for (int i = 0; i < FULL_DISK_TRIES; i++) {
        if (folder_fault(&shim->id, shim->folder) != NULL)
            return SHIM_FAILED; /* the runner notices it */
        if (folder_write_exit(shim->folder, &shim->ending, NULL) == HT_OK)
            return SHIM_DONE;
        poll(NULL, 0, 1000);
    }
    return SHIM_FAILED;
}

int shim_run(const char *folder)
{
    struct shim *shim = ht_xcalloc(1, sizeof *shim);
    *shim = (struct shim){
        .folder = folder,
        .signals = -1,
        .watch = -1,
        .arena = arena_new(),
        .trainer = {.pid = -1, .outputs = {-1, -1}, .status = -1},
        .logs = {{.fd = -1}, {.fd = -1}},
        .timeout_at = INT64_MAX,
        .kill_at = INT64_MAX,
    };
    bool finished = false;
    int code = take_folder(shim, &finished);
    if (code == SHIM_DONE && !finished) {
        struct ht_error err;
        if (prepare(shim, &err) == HT_OK) {
            run_trainer(shim);
            cgroup_remove(&shim->launch.guest);
        } else {
            folder_end(&shim->ending, OUTCOME_LOST,
                       "its supervisor could not start: %s", err.text);
        }
        code = finish(shim);
    }
    arena_free(shim->arena);
    free(shim);
    return code;
}
