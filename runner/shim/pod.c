/* pod.c - the first process of a trial's container in a pod. */
#include "runner/shim/pod.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/whole.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/mirror/names.h"
#include "runner/mirror/serve.h"
#include "runner/shim/child_shim.h"
#include "runner/shim/launch.h"
#include "runner/shim/shim.h"

enum {
    FIRST_DELAY_MS = 50, /* between looks for launch.json */
    LONGEST_DELAY_MS = 250,
    LEAVE_MS = 10 * 60 * 1000, /* for a runner to connect again */
    LOOK_MS = 250,
    MOST_MESSAGE = 4096 /* bytes of a termination message */
};

/* Each byte of a reason has at most 6 in JSON. */
_Static_assert(6 * HT_MAX_REASON + 256 <= MOST_MESSAGE,
               "exit.json fits into a termination message");

static const char message_file[] = "/dev/termination-log";
static const char with_pod[] = "stopped: the cluster ends the pod";

struct pod {
    struct arena *arena;
    const char *turn;   /* file that a mirror holds */
    const char *folder; /* absolute */
    int signals;        /* signalfd */
    bool ending;        /* the cluster ends the pod */
};

/* An image may name another one of these as its STOPSIGNAL. The first process
 * gets only signals that it asks for. */
static int open_signals(void)
{
    const int numbers[] = {SIGCHLD, SIGTERM, SIGINT,   SIGQUIT,     SIGHUP,
                           SIGUSR1, SIGUSR2, SIGWINCH, SIGRTMIN + 3};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_SETMASK, &set, NULL);
    (void)signal(SIGCHLD, SIG_DFL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Until then at most; false: a signal that ends the pod came. */
static bool pause_for(struct pod *pod, int64_t ms)
{
    struct pollfd fd = {.fd = pod->signals, .events = POLLIN};
    poll(&fd, 1, (int)ms);
    child_shim_reap();
    if (child_shim_signals(pod->signals) == 0)
        return true;
    pod->ending = true;
    return false;
}

/* The mirror makes the folder, and maybe others above it. inotify would need
 * each of them. */
static bool wait_for_launch(struct pod *pod)
{
    int delay_ms = 0;
    while (pause_for(pod, delay_ms)) {
        if (disk_has(pod->folder, "launch.json"))
            return true;
        const int next = delay_ms * 3 / 2;
        delay_ms = next < FIRST_DELAY_MS     ? FIRST_DELAY_MS
                   : next < LONGEST_DELAY_MS ? next
                                             : LONGEST_DELAY_MS;
    }
    return false;
}

static void run_trial(struct pod *pod)
{
    char workdir[PATH_MAX];
    const struct shim_batch batch = {
        .in_pod = true,
        .with_job = with_pod,
        .stop_at = INT64_MAX,
        .end_at = INT64_MAX,
        .kill_wait_ms = INT64_MAX,
        .modules = launch_environment(pod->arena, NULL, NULL),
        .workdir = getcwd(workdir, sizeof workdir), /* the image's */
    };
    child_shim_run(pod->folder, &batch, pod->signals, &pod->ending);
}

/* Outside of a container of Kubernetes there is no such file. */
static void leave_message(struct pod *pod)
{
    struct disk_bytes bytes;
    if (disk_read(pod->arena, pod->folder, "exit.json", MOST_MESSAGE, &bytes,
                  NULL) != HT_OK)
        return;
    const int fd =
        open(message_file, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)whole_write(fd, bytes.data, bytes.len);
    close(fd);
}

/* Whether a runner is connected. */
static bool is_served(const struct pod *pod)
{
    const int fd =
        open(pod->turn, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool served = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    return served;
}

/* It deletes the pod once it has the end and the outputs. */
static void wait_for_runner(struct pod *pod)
{
    const bool was_ending = pod->ending;
    int64_t served_at = clock_monotonic_ms(), ending_at = served_at;
    for (;;) {
        const int64_t now = clock_monotonic_ms();
        const bool served = is_served(pod);
        if (served)
            served_at = now;
        if (!pod->ending)
            ending_at = now;
        const int64_t wait_ms = served       ? POD_OUTPUTS_MS
                                : was_ending ? POD_LAST_MS
                                             : 0;
        if (pod->ending ? now - ending_at >= wait_ms
                        : now - served_at >= LEAVE_MS)
            return;
        (void)pause_for(pod, LOOK_MS);
    }
}

static int code_of_end(const struct pod *pod)
{
    struct ending ending;
    struct ht_error err;
    if (folder_read_exit(pod->folder, &ending, &err) != HT_OK) {
        child_shim_say("its end is not known: %s", err.text);
        return SHIM_FAILED;
    }
    if (ending.has_signal)
        return 128 + ending.signal;
    if (!ending.has_exit)
        return SHIM_FAILED;
    /* A trainer that was stopped may end well, but has no result. */
    return ending.exit == 0 && ending.outcome != OUTCOME_SUCCEEDED
               ? POD_ENDED
               : ending.exit;
}

int pod_run(const char *root, const char *folder)
{
    if (!names_is_path(folder)) {
        child_shim_say("not a relative path without \"..\": %s", folder);
        return SHIM_USAGE;
    }
    struct arena *arena = arena_new();
    struct pod pod = {.arena = arena,
                      .turn = arena_printf(arena, "%s/" MIRROR_TURN, root),
                      .folder = arena_printf(arena, "%s/%s", root, folder),
                      .signals = open_signals()};
    int code = POD_ENDED;
    if (pod.signals < 0) {
        child_shim_say("no signalfd");
        code = SHIM_FAILED;
    } else if (wait_for_launch(&pod)) {
        run_trial(&pod);
        leave_message(&pod);
        code = code_of_end(&pod);
        wait_for_runner(&pod);
    }
    arena_free(arena);
    return code;
}
