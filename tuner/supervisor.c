#include "tuner/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/program.h"
#include "proto/base/text.h"

enum {
    FIRST_DELAY_MS = 500, /* before a runner that died is started again */
    LAST_DELAY_MS = 30000,
    STEADY_MS = 60000, /* one that ran for so long resets the delays */
    WATCH_MS = 1000,   /* between looks at an adopted runner's lock */
    USUAL_FILES = 1024 /* soft limit of descriptors on Linux */
};

extern char **environ;

struct supervisor {
    struct supervisor_options options;
    pid_t child; /* 0: none of ours runs */
    bool adopted;
    int64_t started_ms, delay_ms, next_ms; /* monotonic */
};

struct supervisor *supervisor_new(const struct supervisor_options *options)
{
    struct supervisor *supervisor = ht_xcalloc(1, sizeof *supervisor);
    supervisor->options = *options;
    supervisor->delay_ms = FIRST_DELAY_MS;
    return supervisor;
}

static bool lock_is_held(const struct supervisor *supervisor)
{
    struct text path = {0};
    text_printf(&path, "%s/runner.lock", supervisor->options.state_dir);
    const bool held = program_holds(path.data);
    text_free(&path);
    return held;
}

static int spawn(const char *program, char *const argv[], pid_t *pid)
{
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t actions;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGHUP);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    /* Its own process group: Ctrl-C on the server reaches the runner through
     * us. */
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int failed = posix_spawnp(pid, program, &actions, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return failed;
}

/* This server takes many descriptors; trainers that still use select() must
 * not inherit that. */
static void limit_files(pid_t child)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= USUAL_FILES)
        return;
    files.rlim_cur = USUAL_FILES;
    prlimit(child, RLIMIT_NOFILE, &files, NULL);
}

static char **build_command(struct arena *arena,
                            const struct supervisor_options *options,
                            char *program)
{
    const struct pair own[] = {
        {"server", options->server_url},
        {"token-file", options->token_file},
        {"engine", options->engine},
        {"state", options->state_dir},
    };
    enum { OWN = sizeof own / sizeof *own };
    char **argv =
        arena_alloc(arena, 2 * (OWN + options->flags.n) + 3, sizeof *argv);
    size_t n = 0;
    argv[n++] = program;
    for (size_t i = 0; i < OWN + options->flags.n; i++) {
        const struct pair *flag =
            i < OWN ? &own[i] : &options->flags.items[i - OWN];
        argv[n++] = arena_printf(arena, "--%s", flag->name);
        if (flag->value != NULL)
            argv[n++] = arena_strdup(arena, flag->value);
    }
    argv[n++] = arena_strdup(arena, "--exit-when-alone");
    argv[n] = NULL;
    return argv;
}

static void start(struct supervisor *supervisor, int64_t now_ms)
{
    const struct supervisor_options *options = &supervisor->options;
    struct arena *arena = arena_new();
    char **argv =
        build_command(arena, options, program_find(arena, "hypertune-runner"));
    pid_t child;
    int failed = spawn(argv[0], argv, &child);
    if (failed == 0) {
        limit_files(child);
        supervisor->child = child;
        supervisor->started_ms = now_ms;
        log_event(LOG_INFO, "runner.started", "pid=%ld engine=%s", (long)child,
                  options->engine);
    } else {
        log_event(LOG_ERROR, "runner.missing", "program=%s reason=\"%s\"",
                  argv[0], strerror(failed));
        supervisor->next_ms = now_ms + LAST_DELAY_MS;
    }
    arena_free(arena);
}

static void note_death(struct supervisor *supervisor, int status,
                       int64_t now_ms)
{
    bool steady = now_ms - supervisor->started_ms >= STEADY_MS;
    if (steady)
        supervisor->delay_ms = FIRST_DELAY_MS;
    log_event(LOG_WARN, "runner.died", "pid=%ld %s=%d restart_ms=%lld",
              (long)supervisor->child, WIFSIGNALED(status) ? "signal" : "exit",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
              (long long)supervisor->delay_ms);
    supervisor->child = 0;
    supervisor->next_ms = now_ms + supervisor->delay_ms;
    supervisor->delay_ms *= 2;
    if (supervisor->delay_ms > LAST_DELAY_MS)
        supervisor->delay_ms = LAST_DELAY_MS;
}

int64_t supervisor_tick(struct supervisor *supervisor, int64_t now_ms)
{
    int status;
    if (supervisor->child != 0 &&
        waitpid(supervisor->child, &status, WNOHANG) == supervisor->child)
        note_death(supervisor, status, now_ms);
    if (supervisor->child != 0)
        return INT64_MAX;
    if (now_ms < supervisor->next_ms)
        return supervisor->next_ms;
    if (lock_is_held(supervisor)) {
        if (!supervisor->adopted)
            log_event(LOG_INFO, "runner.adopted", "state=%s",
                      supervisor->options.state_dir);
        supervisor->adopted = true;
        return supervisor->next_ms = now_ms + WATCH_MS;
    }
    supervisor->adopted = false;
    start(supervisor, now_ms);
    return supervisor->child != 0 ? INT64_MAX : supervisor->next_ms;
}

static void wait_for_child(pid_t child, int64_t until_ms)
{
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    while (waitpid(child, NULL, WNOHANG) == 0) {
        int64_t left_ms = until_ms - clock_monotonic_ms();
        if (left_ms <= 0)
            return;
        struct timespec left = {left_ms / 1000, left_ms % 1000 * 1000000};
        sigtimedwait(&ended, NULL, &left);
    }
}

void supervisor_stop(struct supervisor *supervisor, int64_t wait_ms)
{
    if (supervisor == NULL)
        return;
    if (supervisor->child != 0) {
        kill(supervisor->child, SIGTERM);
        wait_for_child(supervisor->child, clock_monotonic_ms() + wait_ms);
    }
    free(supervisor);
}
