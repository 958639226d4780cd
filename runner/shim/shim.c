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
#include "runner/element/element.h"
#include "runner/element/image.h"
#include "runner/shim/confine.h"
#include "runner/shim/event_folder.h"
#include "runner/shim/filter.h"
#include "runner/shim/image.h"
#include "runner/shim/launch.h"
#include "runner/shim/log.h"
#include "runner/shim/meter.h"
#include "runner/shim/trainer.h"

enum {
    POLL_MS = 100,        /* between checks of `stop` without inotify */
    BATCH_POLL_MS = 1000, /* ... that may ask a server of NFS */
    WATCH_AFTER_MS = 100, /* inotify costs its process 10 ms at the end */
    LEFTOVER_BOUND_MS =
        10000,             /* for processes that SIGKILL does not end at once */
    DRAIN_BOUND_MS = 2000, /* for output of a process that keeps a pipe open */
    LATE_MS = 50,          /* for a signal of Slurm that ended the trainer */
    LATE_FAILED_MS = 500,  /* ... which did not end well */
    EXIT_MS = 1500,        /* from the trainer's end to exit.json */
    EARLY_MS = 90000,     /* Slurm warns up to a minute before it is asked to */
    FULL_DISK_TRIES = 60, /* one a second, until exit.json fits */
    CHUNK = 64 * 1024
};

enum phase { PHASE_RUNNING, PHASE_TERMINATING, PHASE_KILLING };

struct shim {
    const char *folder;
    const struct shim_batch *batch; /* NULL: in no job of a cluster */
    pid_t parent;                   /* getppid() at first: it may end */
    int folder_fd;                  /* with the lock: one shim per folder */
    struct arena *arena;
    struct folder_id id;
    struct launch launch;
    int signals; /* signalfd: SIGCHLD, SIGTERM, SIGINT, SIGHUP, in a job of
                    Slurm SIGUSR1 */
    int watch;   /* inotify on the folder, -1: check every poll_ms */
    int poll_ms;
    int64_t poll_at;  /* monotonic: when to check without inotify */
    int64_t watch_at; /* monotonic: when to try inotify; INT64_MAX: never */
    struct trainer trainer;
    struct shim_log logs[2];
    struct meter meter;
    struct event_folder *events; /* NULL: its files are not read */
    bool in_image;               /* the trainer is in a container of a tool */
    bool ended;
    int wait_status;
    enum phase phase;
    int64_t timeout_at;   /* monotonic; INT64_MAX: never */
    int64_t limit_at;     /* ... before Slurm's limit; INT64_MAX: never */
    int64_t kill_at;      /* end of the grace; INT64_MAX: never */
    struct ending ending; /* outcome and reason once the shim ended it */
    char buffer[CHUNK];
};

/* ---- set-up ---- */

/* All that is written into the folder is written on this machine. */
static bool is_local(const struct shim_batch *batch)
{
    return batch == NULL || batch->in_pod;
}

static int open_signals(bool in_batch)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (in_batch)
        sigaddset(&set, SIGUSR1);
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

static enum ht_status prepare(struct shim *shim, struct ht_error *err)
{
    if (getsid(0) != getpid())
        (void)setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    shim->signals = open_signals(shim->batch != NULL);
    if (shim->signals < 0)
        return ht_fail_errno(err, errno, "no signalfd");
    enum ht_status status =
        folder_read_launch(shim->arena, shim->folder, &shim->launch, err);
    shim->in_image = shim->batch != NULL && image_is_wanted(shim->folder);
    if (status == HT_OK && shim->batch != NULL)
        launch_fit(shim->arena, &shim->launch, shim->batch, shim->in_image);
    if (status == HT_OK)
        status = shim_log_open(&shim->logs[0], shim->folder_fd, "stdout", err);
    if (status == HT_OK)
        status = shim_log_open(&shim->logs[1], shim->folder_fd, "stderr", err);
    if (status == HT_OK)
        status = announce(shim, err);
    if (status == HT_OK)
        launch_inherit(shim->arena, &shim->launch);
    if (status == HT_OK && shim->in_image)
        status = image_wrap(shim->arena, shim->folder, &shim->batch->container,
                            &shim->launch, err);
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
    if (getpgid(shim->trainer.pid) != shim->trainer.pid)
        kill(shim->trainer.pid, number); /* it has left its group */
}

static void kill_trainer(struct shim *shim)
{
    shim->phase = PHASE_KILLING;
    shim->kill_at = INT64_MAX;
    signal_trainer(shim, SIGKILL);
}

/* False when its end has begun before. */
static bool begin_end(struct shim *shim, enum outcome outcome,
                      const char *reason)
{
    if (shim->phase != PHASE_RUNNING)
        return false;
    folder_end(&shim->ending, outcome, "%s", reason);
    shim->phase = PHASE_TERMINATING;
    shim->timeout_at = INT64_MAX;
    shim->limit_at = INT64_MAX;
    shim->kill_at = clock_monotonic_ms() + shim->launch.grace_ms;
    return true;
}

static void end_trainer(struct shim *shim, enum outcome outcome, bool at_once,
                        const char *reason)
{
    if (begin_end(shim, outcome, reason) && !at_once)
        signal_trainer(shim, SIGTERM);
    if (at_once && shim->phase != PHASE_KILLING)
        kill_trainer(shim);
}

static void kill_by(struct shim *shim, int64_t at)
{
    if (shim->phase == PHASE_TERMINATING && shim->kill_at > at)
        shim->kill_at = at;
}

/* A trainer may look for the file `stop`, too. */
static void end_before_limit(struct shim *shim)
{
    struct stop_order order = {.kill = false};
    (void)snprintf(order.reason, sizeof order.reason, "%s",
                   element_before_limit);
    if (shim->phase == PHASE_RUNNING)
        (void)folder_write_stop(shim->folder, &order, NULL);
    end_trainer(shim, OUTCOME_LOST, false, element_before_limit);
    kill_by(shim, shim->batch->end_at);
}

/* Where the limit is known, the clock of this process is more exact. */
static void obey_warning(struct shim *shim)
{
    const int64_t left = shim->limit_at - clock_monotonic_ms();
    if (shim->limit_at == INT64_MAX || left > EARLY_MS)
        end_before_limit(shim);
}

/* Two orders to end would be one too many for some trainers. */
static void end_with_job(struct shim *shim, pid_t sender)
{
    if (begin_end(shim, OUTCOME_LOST, shim->batch->with_job) &&
        sender == shim->parent)
        signal_trainer(shim, SIGTERM);
    if (shim->batch->kill_wait_ms < INT64_MAX)
        kill_by(shim,
                clock_monotonic_ms() + shim->batch->kill_wait_ms - EXIT_MS);
}

static void look_for_stop(struct shim *shim)
{
    struct stop_order order;
    if (shim->batch != NULL)
        (void)disk_refresh(shim->folder);
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
    if (now >= shim->limit_at)
        end_before_limit(shim);
    if (shim->watch < 0 && now >= shim->poll_at) {
        shim->poll_at = now + shim->poll_ms;
        look_for_stop(shim);
    }
    if (now >= shim->kill_at)
        kill_trainer(shim);
    meter_tick(&shim->meter, now);
    const char *fault = event_folder_tick(shim->events, now);
    if (fault != NULL)
        end_trainer(shim, OUTCOME_FAILED, false, fault);
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

static void obey_signal(struct shim *shim, const struct signalfd_siginfo *info)
{
    const int number = (int)info->ssi_signo;
    if (number == SIGUSR1)
        obey_warning(shim);
    else if (number != SIGTERM && number != SIGINT)
        return;
    else if (shim->batch != NULL)
        end_with_job(shim, (pid_t)info->ssi_pid);
    else
        end_trainer(shim, OUTCOME_STOPPED, false,
                    "stopped: its supervisor got a signal to end");
}

static void read_signals(struct shim *shim)
{
    struct signalfd_siginfo info;
    while (read(shim->signals, &info, sizeof info) == sizeof info) {
        obey_signal(shim, &info);
    }
    reap_children(shim);
}

/* Slurm signals one process after the other: the trainer may have ended by a
 * signal that this process has not got yet, and its result is none. */
static void wait_for_late_signal(struct shim *shim)
{
    const int64_t deadline =
        clock_monotonic_ms() +
        (shim->wait_status == 0 ? LATE_MS : LATE_FAILED_MS);
    int64_t left = deadline - clock_monotonic_ms();
    while (shim->phase == PHASE_RUNNING && left > 0) {
        struct pollfd fd = {.fd = shim->signals, .events = POLLIN};
        if (poll(&fd, 1, (int)left) > 0)
            read_signals(shim);
        left = deadline - clock_monotonic_ms();
    }
}

static void read_watch(struct shim *shim)
{
    while (read(shim->watch, shim->buffer, sizeof shim->buffer) > 0)
        continue;
    look_for_stop(shim);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int wait_ms(const struct shim *shim)
{
    int64_t wake = earlier(shim->timeout_at, shim->kill_at);
    wake = earlier(wake, shim->limit_at);
    wake = earlier(wake, shim->meter.due_at);
    wake = earlier(wake, event_folder_due(shim->events));
    if (shim->watch < 0)
        wake = earlier(wake, shim->poll_at);
    if (wake == INT64_MAX)
        return -1;
    wake -= clock_monotonic_ms();
    return (int)(wake < 0 ? 0 : earlier(wake, INT32_MAX));
}

static void supervise(struct shim *shim)
{
    const int64_t now = clock_monotonic_ms();
    if (is_local(shim->batch))
        shim->watch_at = now + WATCH_AFTER_MS;
    shim->poll_at = now + shim->poll_ms;
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

static bool begin_events(struct shim *shim, uid_t uid)
{
    struct ht_error err;
    if (event_folder_begin(&shim->launch, shim->folder, uid, &shim->events,
                           &err) == HT_OK)
        return true;
    folder_end(&shim->ending, OUTCOME_LOST, "%s", err.text);
    return false;
}

static void end_events(struct shim *shim)
{
    bool lost;
    const char *fault = event_folder_end(shim->events, &lost);
    if (lost)
        folder_end(&shim->ending, OUTCOME_LOST,
                   "what its event files measure could not be written");
    else if (fault != NULL && shim->ending.outcome != OUTCOME_LOST)
        folder_end(&shim->ending, OUTCOME_FAILED, "%s", fault);
}

static void run_trainer(struct shim *shim)
{
    shim->ending.started_ms = clock_wall_ms();
    uid_t uid;
    if (!prepare_guest(shim, &uid) || !begin_events(shim, uid) ||
        !trainer_start(&shim->launch, shim->folder, uid, &shim->trainer,
                       &shim->ending))
        return;
    filter_install();
    meter_begin(&shim->meter, shim->folder, &shim->launch.guest);
    if (shim->launch.timeout_ms > 0)
        shim->timeout_at = clock_monotonic_ms() + shim->launch.timeout_ms;
    if (shim->batch != NULL)
        shim->limit_at = shim->batch->stop_at;
    supervise(shim);
    shim->ending.ended_ms = clock_wall_ms();
    if (shim->batch != NULL)
        wait_for_late_signal(shim);
    /* A trainer that fails while all replicas are being stopped may fail by the
     * end of another one before this shim has read its order. */
    if (shim->wait_status != 0)
        look_for_stop(shim);
    kill_leftovers(shim);
    meter_end(&shim->meter);
    drain_output(shim);
    const struct ending ordered = shim->ending;
    trainer_describe(shim->wait_status, &shim->ending);
    if (shim->in_image)
        image_describe(shim->folder, &shim->ending);
    if (shim->wait_status != 0 && cgroup_was_full(&shim->launch.guest))
        folder_end(&shim->ending, OUTCOME_FAILED,
                   "killed by signal %d (SIGKILL): it needs more than the "
                   "memory that the runner's --limit gives it",
                   SIGKILL);
    if (shim->phase != PHASE_RUNNING)
        folder_end(&shim->ending, ordered.outcome, "%s", ordered.reason);
    end_events(shim);
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

int shim_run(const char *folder, const struct shim_batch *batch)
{
    struct shim *shim = ht_xcalloc(1, sizeof *shim);
    *shim = (struct shim){
        .folder = folder,
        .batch = batch,
        .parent = getppid(),
        .signals = -1,
        .watch = -1,
        .watch_at = INT64_MAX,
        .poll_ms = is_local(batch) ? POLL_MS : BATCH_POLL_MS,
        .arena = arena_new(),
        .trainer = {.pid = -1, .outputs = {-1, -1}, .status = -1},
        .logs = {{.fd = -1}, {.fd = -1}},
        .timeout_at = INT64_MAX,
        .limit_at = INT64_MAX,
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
    event_folder_free(shim->events);
    arena_free(shim->arena);
    free(shim);
    return code;
}
