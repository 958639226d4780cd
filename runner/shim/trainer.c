#include "runner/shim/trainer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "runner/base/workdir.h"
#include "runner/shim/confine.h"

enum step { STEP_SETUP, STEP_CONFINE, STEP_COPY, STEP_WORKDIR, STEP_EXEC };

struct fault { /* the child's report before it exits */
    enum step step;
    int code;                 /* errno */
    char text[HT_MAX_REASON]; /* of STEP_COPY */
};

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* ---- in the child ---- */

static void exec_in_path(const struct launch *launch, char *const argv[],
                         char *const env[])
{
    const char *path = "/usr/local/bin:/usr/bin:/bin";
    for (size_t i = 0; i < launch->env.n; i++) {
        if (strcmp(launch->env.items[i].name, "PATH") == 0)
            path = launch->env.items[i].value;
    }
    int worst = ENOENT;
    for (;;) {
        const size_t len = strcspn(path, ":");
        char file[PATH_MAX];
        const int n = snprintf(file, sizeof file, "%.*s%s%s", (int)len, path,
                               len > 0 ? "/" : "./", argv[0]);
        if (n > 0 && (size_t)n < sizeof file)
            execve(file, argv, env);
        if (errno == EACCES)
            worst = EACCES; /* found, but keep looking, as shells do */
        else if (errno != ENOENT && errno != ENOTDIR)
            return;
        if (path[len] == '\0')
            break;
        path += len + 1;
    }
    errno = worst;
}

static void exec_words(const struct launch *launch, char *const argv[],
                       char *const env[])
{
    if (strchr(argv[0], '/') != NULL)
        execve(argv[0], argv, env);
    else
        exec_in_path(launch, argv, env);
}

/* Slurm may warn all processes of a job. */
static void reset_signals(bool in_batch)
{
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, in_batch && number == SIGUSR1 ? SIG_IGN : SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool connect_streams(const int outputs[2])
{
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return null >= 0 && dup2(null, 0) == 0 && dup2(outputs[0], 1) == 1 &&
           dup2(outputs[1], 2) == 2;
}

struct child { /* what the child needs, made before the fork */
    const struct launch *launch;
    const char *workdir;
    char *const *argv, *const *env;
    int outputs[2]; /* write ends */
    int report[2];  /* closed by exec */
    int status;     /* write end */
    uid_t uid;
    struct confined self;
};

static bool is_orphan(const struct child *child)
{
    struct pollfd end = {.fd = child->report[1], .events = 0};
    return poll(&end, 1, 0) == 1 && (end.revents & POLLERR) != 0;
}

/* As the trainer's user, who may not see what the shim sees. */
static bool copy_workdir(const struct launch *launch, char text[HT_MAX_REASON])
{
    const struct workdir_order order = {.from = launch->copied,
                                        .into = launch->workdir,
                                        .left_out = launch->left_out,
                                        .no_events = launch->events != NULL,
                                        .state = launch->state};
    struct ht_error err;
    if (launch->copied == NULL || workdir_copy(&order, &err) == HT_OK)
        return true;
    (void)snprintf(text, HT_MAX_REASON, "%s", err.text);
    return false;
}

static void become_trainer(const struct child *child, struct fault *fault)
{
    const struct guest *guest = &child->launch->guest;
    fault->step = STEP_CONFINE;
    if (!confine_join(guest) || !confine_hide(guest, &child->self) ||
        !confine_begin(guest, child->report[1], child->status) ||
        !confine_drop(guest, child->uid))
        return;
    /* A change of the user would undo it. */
    if (guest->sandbox != SANDBOX_NAMESPACES)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    reset_signals(child->launch->in_batch);
    fault->step = STEP_COPY;
    if (!copy_workdir(child->launch, fault->text))
        return;
    fault->step = STEP_WORKDIR;
    if (chdir(child->workdir) != 0)
        return;
    fault->step = STEP_EXEC;
    exec_words(child->launch, child->argv, child->env);
}

_Noreturn static void run_child(const struct child *child)
{
    struct fault fault = {.step = STEP_SETUP};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(child->report[0]);
    if (is_orphan(child))
        _exit(EXIT_NOT_FOUND); /* the shim died before the call above */
    if (setpgid(0, 0) == 0 && connect_streams(child->outputs))
        become_trainer(child, &fault);
    fault.code = errno;
    const ssize_t n = write(child->report[1], &fault, sizeof fault);
    _exit(n == sizeof fault ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* ---- in the shim ---- */

static void end_failed(struct ending *ending, enum outcome outcome, int code,
                       const char *what, const char *name)
{
    ending->has_exit = outcome == OUTCOME_FAILED;
    ending->exit = code;
    folder_end(ending, outcome, "%s: %s", what, name);
}

static void describe_exec(int code, const char *program, struct ending *ending)
{
    if (code == ENOENT && strchr(program, '/') != NULL &&
        access(program, F_OK) == 0)
        end_failed(ending, OUTCOME_FAILED, EXIT_NOT_EXECUTABLE,
                   "not executable (its interpreter is missing)", program);
    else if (code == ENOENT || code == ENOTDIR)
        end_failed(ending, OUTCOME_FAILED, EXIT_NOT_FOUND, "command not found",
                   program);
    else if (code == EACCES)
        end_failed(ending, OUTCOME_FAILED, EXIT_NOT_EXECUTABLE,
                   "not executable", program);
    else if (code == ENOEXEC)
        end_failed(ending, OUTCOME_FAILED, EXIT_NOT_EXECUTABLE,
                   "not executable (no program and no #! line)", program);
    else {
        char what[128];
        (void)snprintf(what, sizeof what, "cannot be started (%s)",
                       strerror(code));
        end_failed(ending, OUTCOME_FAILED, EXIT_NOT_EXECUTABLE, what, program);
    }
}

/* Who has another user may not see what the runner sees. */
static void add_user(struct ending *ending, uid_t uid)
{
    const size_t len = strlen(ending->reason);
    if (uid != 0)
        (void)snprintf(ending->reason + len, sizeof ending->reason - len,
                       " for the trial's user %u (--run-as)", (unsigned)uid);
}

static void describe_fault(const struct fault *fault, const char *workdir,
                           const char *program, uid_t uid,
                           struct ending *ending)
{
    switch (fault->step) {
    case STEP_WORKDIR:
        end_failed(ending, OUTCOME_FAILED, EXIT_NOT_EXECUTABLE, "", "");
        folder_describe_workdir(fault->code, workdir, ending->reason);
        add_user(ending, uid);
        return;
    case STEP_EXEC:
        describe_exec(fault->code, program, ending);
        add_user(ending, uid);
        return;
    case STEP_COPY:
        folder_end(ending, OUTCOME_FAILED, "%s", fault->text);
        return;
    case STEP_CONFINE:
        end_failed(ending, OUTCOME_LOST, 0, "the trainer could not be confined",
                   strerror(fault->code));
        return;
    case STEP_SETUP:
        end_failed(ending, OUTCOME_LOST, 0, "the trainer could not be prepared",
                   strerror(fault->code));
        return;
    }
}

static char **vector_of(struct arena *arena, const struct strings *strings)
{
    char **vector = arena_alloc(arena, strings->n + 1, sizeof *vector);
    for (size_t i = 0; i < strings->n; i++)
        vector[i] = arena_strdup(arena, strings->items[i]);
    return vector;
}

static char **environment_of(struct arena *arena, const struct pairs *env)
{
    char **vector = arena_alloc(arena, env->n + 1, sizeof *vector);
    for (size_t i = 0; i < env->n; i++)
        vector[i] = arena_printf(arena, "%s=%s", env->items[i].name,
                                 env->items[i].value);
    return vector;
}

void trainer_become(struct arena *arena, const struct launch *launch,
                    struct ending *ending)
{
    exec_words(launch, vector_of(arena, &launch->argv),
               environment_of(arena, &launch->env));
    describe_exec(errno, launch->argv.items[0], ending);
}

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

struct pipes {
    int streams[2][2]; /* stdout, stderr; read end first */
    int report[2];
    int status[2]; /* of the trainer, from the first process of a namespace */
};

static bool open_pipes(struct pipes *pipes)
{
    return pipe2(pipes->streams[0], O_CLOEXEC) == 0 &&
           pipe2(pipes->streams[1], O_CLOEXEC) == 0 &&
           pipe2(pipes->report, O_CLOEXEC) == 0 &&
           pipe2(pipes->status, O_CLOEXEC) == 0 &&
           fcntl(pipes->status[0], F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(pipes->streams[0][0], F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(pipes->streams[1][0], F_SETFL, O_NONBLOCK) == 0;
}

static pid_t fork_child(const struct launch *launch, const char *workdir,
                        uid_t uid, const struct pipes *pipes)
{
    struct arena *arena = arena_new();
    struct child child = {
        .launch = launch,
        .workdir = workdir,
        .argv = vector_of(arena, &launch->argv),
        .env = environment_of(arena, &launch->env),
        .outputs = {pipes->streams[0][1], pipes->streams[1][1]},
        .report = {pipes->report[0], pipes->report[1]},
        .status = pipes->status[1],
        .uid = uid,
    };
    const pid_t pid = confine_fork(&launch->guest, &child.self);
    if (pid == 0)
        run_child(&child);
    const int code = errno;
    arena_free(arena);
    errno = code;
    return pid;
}

/* False when exec succeeded: then the kernel closed the empty pipe. */
static bool read_fault(int fd, struct fault *fault)
{
    ssize_t n;
    do {
        n = read(fd, fault, sizeof *fault);
    } while (n < 0 && errno == EINTR);
    return n == sizeof *fault;
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

bool trainer_start(const struct launch *launch, const char *folder, uid_t uid,
                   struct trainer *trainer, struct ending *ending)
{
    struct pipes pipes = {{{-1, -1}, {-1, -1}}, {-1, -1}, {-1, -1}};
    const char *workdir = launch->workdir != NULL ? launch->workdir : folder;
    const pid_t pid =
        open_pipes(&pipes) ? fork_child(launch, workdir, uid, &pipes) : -1;
    bool started = false;
    if (pid < 0) {
        end_failed(ending, OUTCOME_LOST, 0, "no process could be made",
                   strerror(errno));
    } else {
        setpgid(pid, pid); /* both sides do it, the first one counts */
        close_end(&pipes.streams[0][1]);
        close_end(&pipes.streams[1][1]);
        close_end(&pipes.report[1]);
        close_end(&pipes.status[1]);
        struct fault fault;
        started = !read_fault(pipes.report[0], &fault);
        if (!started) {
            reap(pid);
            describe_fault(&fault, workdir, launch->argv.items[0], uid, ending);
        }
    }
    if (started) {
        trainer->pid = pid;
        for (int i = 0; i < 2; i++) {
            trainer->outputs[i] = pipes.streams[i][0];
            pipes.streams[i][0] = -1;
        }
        trainer->status = pipes.status[0];
        pipes.status[0] = -1;
    }
    for (int i = 0; i < 2; i++) {
        close_end(&pipes.streams[0][i]);
        close_end(&pipes.streams[1][i]);
        close_end(&pipes.report[i]);
        close_end(&pipes.status[i]);
    }
    return started;
}

int trainer_status(const struct trainer *trainer, int wait_status)
{
    int status;
    return read(trainer->status, &status, sizeof status) == sizeof status
               ? status
               : wait_status;
}

static void describe_exit(int code, struct ending *ending)
{
    ending->has_exit = true;
    ending->exit = code;
    const enum outcome outcome = code == 0 ? OUTCOME_SUCCEEDED : OUTCOME_FAILED;
    const char *name = code > 128 ? sigabbrev_np(code - 128) : NULL;
    const char *more = "";
    if (code == EXIT_NOT_FOUND)
        more = " (command not found)";
    else if (code == EXIT_NOT_EXECUTABLE)
        more = " (command not executable)";
    else if (code == 128 + SIGKILL)
        more = " (SIGKILL in a child, often out of memory)";
    if (name != NULL && *more == '\0')
        folder_end(ending, outcome, "exit %d (SIG%s in a child)", code, name);
    else
        folder_end(ending, outcome, "exit %d%s", code, more);
}

void trainer_describe(int wait_status, struct ending *ending)
{
    if (WIFEXITED(wait_status)) {
        describe_exit(WEXITSTATUS(wait_status), ending);
        return;
    }
    const int number = WTERMSIG(wait_status);
    const char *name = sigabbrev_np(number);
    ending->has_signal = true;
    ending->signal = number;
    const bool core = WCOREDUMP(wait_status);
    folder_end(ending, OUTCOME_FAILED, "%ssignal %d (%s%s)%s",
               core ? "" : "killed by ", number,
               name != NULL ? "SIG" : "real-time", name != NULL ? name : "",
               core ? ", core dumped" : "");
}
