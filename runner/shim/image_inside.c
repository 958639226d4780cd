#include "runner/shim/image_inside.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/element/image.h"
#include "runner/element/modules.h"
#include "runner/shim/launch.h"
#include "runner/shim/trainer.h"

enum { EXIT_NOT_STARTED = 125, EXIT_NOT_EXECUTABLE = 126 };

static pid_t trainer_pid;

static void tell(const char *inside, struct ending *ending)
{
    ending->started_ms = ending->ended_ms = clock_wall_ms();
    (void)folder_write_exit(inside, ending, NULL);
}

static bool enter_workdir(const struct launch *launch, struct ending *ending)
{
    if (launch->workdir == NULL || chdir(launch->workdir) == 0)
        return true;
    folder_end(ending, OUTCOME_FAILED, "%s", "");
    folder_describe_workdir(errno, launch->workdir, ending->reason);
    ending->has_exit = true;
    ending->exit = EXIT_NOT_EXECUTABLE;
    return false;
}

/* Slurm may warn all processes of a job. */
static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, number == SIGUSR1 ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int become_trainer(struct arena *arena, const char *inside,
                          const struct launch *launch)
{
    struct ending ending = {0};
    reset_signals();
    if (enter_workdir(launch, &ending))
        trainer_become(arena, launch, &ending);
    tell(inside, &ending);
    return ending.exit;
}

static void pass_on(int number)
{
    if (trainer_pid > 0)
        kill(trainer_pid, number);
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The container ends with this process, and so does all that is in it. */
static int wait_for_trainer(const char *inside, const sigset_t *before)
{
    int status = 0;
    pid_t pid;
    const struct sigaction action = {.sa_handler = pass_on};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    (void)signal(SIGUSR1, SIG_IGN);
    sigprocmask(SIG_SETMASK, before, NULL);
    while ((pid = waitpid(-1, &status, 0)) != trainer_pid)
        if (pid < 0 && errno != EINTR)
            return EXIT_NOT_STARTED;
    if (WIFSIGNALED(status)) {
        struct ending ending = {0};
        trainer_describe(status, &ending);
        tell(inside, &ending);
    }
    return code_of(status);
}

static int run(struct arena *arena, const char *inside,
               const struct launch *launch)
{
    sigset_t all, before;
    if (getpid() != 1)
        return become_trainer(arena, inside, launch);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    trainer_pid = fork();
    if (trainer_pid == 0)
        _exit(become_trainer(arena, inside, launch));
    return trainer_pid < 0 ? EXIT_NOT_STARTED
                           : wait_for_trainer(inside, &before);
}

int image_inside_run(const char *folder)
{
    struct arena *arena = arena_new();
    struct ht_error err;
    struct launch launch;
    const char *inside = image_inside(arena, folder);
    int code = EXIT_NOT_STARTED;
    if (folder_read_launch(arena, inside, &launch, &err) == HT_OK &&
        disk_mark(inside, "begun", &err) == HT_OK) {
        const struct pairs image = launch_environment(arena, NULL, NULL);
        modules_put(arena, &image, &launch);
        code = run(arena, inside, &launch);
    } else {
        struct ending ending = {0};
        folder_end(&ending, OUTCOME_LOST, "%s", err.text);
        tell(inside, &ending);
    }
    arena_free(arena);
    return code;
}
