#include "runner/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/whole.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

/* Runs /bin/sh -c script; its wait status and its output. */
static int run(const char *script, const char *const env[], char output[64])
{
    char folder[PATH_MAX], path[PATH_MAX + 8];
    (void)snprintf(path, sizeof path, "%s/out", runner_fixture_folder(folder));
    const int out = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct child child = {.argv = argv,
                                .env = env,
                                .input = -1,
                                .output = out,
                                .group = POSIX_SPAWN_SETSID};
    pid_t pid = 0;
    int status = 0;
    CHECK(child_start(&child, &pid) == 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    const ssize_t n = whole_read_at(out, output, 63, 0);
    output[n > 0 ? n : 0] = '\0';
    close(out);
    return status;
}

static void it_has_its_streams_and_no_other_descriptor(void)
{
    char output[64];
    enum { KEPT = 17 };
    CHECK(dup2(STDOUT_FILENO, KEPT) == KEPT); /* without close-on-exec */
    CHECK(run("cat; echo lost >&2; test -e /proc/$$/fd/17 || echo none", NULL,
              output) == 0);
    close(KEPT);
    CHECK_TEXT(output, "none\n");
}

static void it_has_the_environment_that_is_given(void)
{
    static const char *const env[] = {"KEY=value", NULL};
    char output[64];
    CHECK(run("echo $KEY$HOME", env, output) == 0);
    CHECK_TEXT(output, "value\n");
}

static void signals_that_the_runner_ignores_or_blocks_end_it(void)
{
    char output[64];
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    (void)signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    CHECK(WTERMSIG(run("kill -PIPE $$", NULL, output)) == SIGPIPE);
    CHECK(WTERMSIG(run("kill -TERM $$", NULL, output)) == SIGTERM);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
}

static void a_program_that_is_not_there_is_an_error(void)
{
    static const char *const argv[] = {"/no/such/program", NULL};
    const struct child child = {.argv = argv, .input = -1, .output = -1};
    pid_t pid = 0;
    CHECK(child_start(&child, &pid) == ENOENT);
}

static atomic_bool done;

static void *reap(void *unused)
{
    while (!atomic_load(&done))
        child_reap_others();
    return unused;
}

static int run_kept(const char *script)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct child child = {.argv = argv, .input = -1, .output = -1};
    pid_t pid;
    CHECK(child_start_kept(&child, &pid) == 0);
    return child_reap(pid);
}

static void the_end_of_a_kept_child_is_for_the_one_who_waits(void)
{
    pthread_t thread;
    atomic_store(&done, false);
    CHECK(pthread_create(&thread, NULL, reap, NULL) == 0);
    for (int i = 0; i < 100; i++) {
        const int status = run_kept("exit 7");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    atomic_store(&done, true);
    pthread_join(thread, NULL);
}

static bool is_gone(pid_t pid)
{
    child_reap_others();
    return kill(pid, 0) != 0;
}

static void others_are_reaped(void)
{
    const char *const argv[] = {"true", NULL};
    const struct child child = {.argv = argv, .input = -1, .output = -1};
    pid_t pid;
    CHECK(child_start(&child, &pid) == 0);
    UNTIL(is_gone(pid));
}

int main(void)
{
    runner_fixture_init();
    RUN(it_has_its_streams_and_no_other_descriptor);
    RUN(it_has_the_environment_that_is_given);
    RUN(signals_that_the_runner_ignores_or_blocks_end_it);
    RUN(a_program_that_is_not_there_is_an_error);
    RUN(the_end_of_a_kept_child_is_for_the_one_who_waits);
    RUN(others_are_reaped);
    runner_fixture_fini();
    return check_done();
}
