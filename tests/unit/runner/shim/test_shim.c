#include "tests/check.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "runner/base/disk.h"
#include "runner/base/procfs.h"
#include "runner/shim/shim.h"
#include "tests/lib/runner_fixture.h"

static struct ending run_script(const char *script)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, script, 0, 5000);
    return runner_fixture_run(folder);
}

static struct ending run_program(const char *program, const char *workdir)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    const char *const argv[] = {program};
    const struct pair env[] = {{"PATH", "/usr/bin:/bin"}};
    const struct launch launch = {
        .argv = {1, argv}, .env = {1, env}, .workdir = workdir};
    CHECK(folder_write_launch(folder, &launch, NULL) == HT_OK);
    return runner_fixture_run(folder);
}

static pid_t pid_in(const char *folder, const char *name)
{
    char *text = runner_fixture_text(folder, name);
    const pid_t pid = (pid_t)strtol(text, NULL, 10);
    free(text);
    return pid;
}

static bool is_gone(pid_t pid)
{
    struct process process;
    return procfs_identify(pid, &process, NULL) != HT_OK ||
           !procfs_is_alive(&process);
}

static void an_exit_of_zero_is_success(void)
{
    const struct ending ending = run_script("exit 0");
    CHECK(ending.outcome == OUTCOME_SUCCEEDED);
    CHECK(ending.has_exit && ending.exit == 0 && !ending.has_signal);
    CHECK_TEXT(ending.reason, "exit 0");
    CHECK(ending.started_ms > 0 && ending.ended_ms >= ending.started_ms);
}

static void an_exit_code_is_kept_and_reported(void)
{
    const struct ending ending = run_script("exit 3");
    CHECK(ending.outcome == OUTCOME_FAILED);
    CHECK(ending.has_exit && ending.exit == 3);
    CHECK_TEXT(ending.reason, "exit 3");
}

static void exit_codes_of_shells_are_put_in_words(void)
{
    CHECK_TEXT(run_script("exit 137").reason,
               "exit 137 (SIGKILL in a child, often out of memory)");
    CHECK_TEXT(run_script("exit 143").reason, "exit 143 (SIGTERM in a child)");
    CHECK_TEXT(run_script("exit 127").reason, "exit 127 (command not found)");
}

static void a_signal_is_reported_by_number_and_name(void)
{
    const struct ending ending = run_script("kill -9 $$");
    CHECK(ending.outcome == OUTCOME_FAILED);
    CHECK(ending.has_signal && ending.signal == 9 && !ending.has_exit);
    CHECK_TEXT(ending.reason, "killed by signal 9 (SIGKILL)");
    CHECK(strstr(run_script("ulimit -c 0; kill -SEGV $$").reason,
                 "signal 11 (SIGSEGV)") != NULL);
}

static void a_missing_command_is_127_with_its_name(void)
{
    struct ending ending = run_program("no-such-trainer", NULL);
    CHECK(ending.outcome == OUTCOME_FAILED && ending.exit == 127);
    CHECK_TEXT(ending.reason, "command not found: no-such-trainer");
    ending = run_program("/no/such/trainer", NULL);
    CHECK(ending.exit == 127);
    CHECK_TEXT(ending.reason, "command not found: /no/such/trainer");
}

static void a_file_that_is_no_program_is_126(void)
{
    const struct ending ending = run_program("/etc/passwd", NULL);
    CHECK(ending.outcome == OUTCOME_FAILED && ending.exit == 126);
    CHECK_TEXT(ending.reason, "not executable: /etc/passwd");
}

static void a_missing_interpreter_is_named(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    static const char script[] = "#!/no/such/interpreter\n";
    CHECK(disk_write(folder, "x", script, sizeof script - 1, 0700, NULL) ==
          HT_OK);
    char program[PATH_MAX + 4];
    (void)snprintf(program, sizeof program, "%s/x", folder);
    const struct ending ending = run_program(program, NULL);
    CHECK(ending.exit == 126);
    CHECK(strstr(ending.reason, "interpreter is missing") != NULL);
}

static void a_missing_workdir_is_reported(void)
{
    struct ending ending = run_program("true", "/no/such/folder");
    CHECK(ending.outcome == OUTCOME_FAILED && ending.exit == 126);
    CHECK_TEXT(ending.reason,
               "the working folder /no/such/folder does not exist");
    ending = run_program("true", "/etc/passwd");
    CHECK_TEXT(ending.reason, "the working folder /etc/passwd is not a folder");
}

static void output_and_environment_are_the_trainers_own(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder,
                          "echo out; echo err >&2; env; cat; pwd; "
                          "for i in 3 4 5 6 7 8 9; do "
                          "[ -e /proc/$$/fd/$i ] && echo leaked; done; true",
                          0, 1000);
    CHECK(runner_fixture_run(folder).outcome == OUTCOME_SUCCEEDED);
    char *out = runner_fixture_text(folder, "stdout.000000000000.log");
    char *err = runner_fixture_text(folder, "stderr.000000000000.log");
    CHECK(strncmp(out, "out\n", 4) == 0);
    CHECK(strstr(out, folder) != NULL); /* pwd: no workdir was given */
    CHECK(strstr(out, "leaked") == NULL);
    CHECK(strstr(out, "LD_") == NULL && strstr(out, "HOME=") == NULL);
    CHECK_TEXT(err, "err\n");
    free(out);
    free(err);
}

static void output_before_the_end_is_never_lost(void)
{
    char path[PATH_MAX];
    for (int i = 0; i < 10; i++) {
        const char *folder = runner_fixture_folder(path);
        runner_fixture_script(folder, "seq 1 9999; echo last; kill -9 $$", 0,
                              0);
        runner_fixture_run(folder);
        CHECK(runner_fixture_file_has(folder, "stdout.000000000000.log",
                                      "\n9999\nlast\n"));
    }
}

static void twenty_megabytes_are_kept_as_head_and_tail(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "yes 0123456789abcde | head -c 20971523", 0,
                          0);
    CHECK(runner_fixture_run(folder).outcome == OUTCOME_SUCCEEDED);
    static const int kept[] = {0, 1, 2, 3, 4, 16, 17, 18, 19, 20};
    size_t n = 0;
    for (int i = 0; i < 22; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "stdout.%012d.log", i << 20);
        const bool want = n < 10 && kept[n] == i;
        CHECK(disk_has(folder, name) == want);
        if (!want)
            continue;
        n++;
        char *text = runner_fixture_text(folder, name);
        CHECK(strlen(text) == (i == 20 ? 3u : 1u << 20));
        CHECK(strncmp(text, "0123456789abcde\n", i == 20 ? 3 : 16) == 0);
        free(text);
    }
}

static void stop_is_sigterm_and_its_reason(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder,
                          "trap 'echo bye; exit 0' TERM; echo up; "
                          "while :; do sleep 0.02; done",
                          0, 20000);
    const pid_t shim = runner_fixture_start(folder);
    UNTIL(runner_fixture_file_has(folder, "stdout.000000000000.log", "up"));
    const struct stop_order order = {.reason = "by user"};
    CHECK(folder_write_stop(folder, &order, NULL) == HT_OK);
    CHECK(runner_fixture_wait(shim) == SHIM_DONE);
    struct ending ending;
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_OK);
    CHECK(ending.outcome == OUTCOME_STOPPED);
    CHECK(ending.has_exit && ending.exit == 0);
    CHECK_TEXT(ending.reason, "stopped: by user");
    CHECK(runner_fixture_file_has(folder, "stdout.000000000000.log", "bye"));
}

static void a_trainer_that_ignores_sigterm_is_killed_after_the_grace(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(
        folder, "trap '' TERM; echo up; while :; do sleep 0.02; done", 0, 200);
    const pid_t shim = runner_fixture_start(folder);
    UNTIL(runner_fixture_file_has(folder, "stdout.000000000000.log", "up"));
    const int64_t start = clock_monotonic_ms();
    const struct stop_order order = {.reason = "median rule"};
    CHECK(folder_write_stop(folder, &order, NULL) == HT_OK);
    CHECK(runner_fixture_wait(shim) == SHIM_DONE);
    CHECK(clock_monotonic_ms() - start >= 200);
    struct ending ending;
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_OK);
    CHECK(ending.outcome == OUTCOME_STOPPED);
    CHECK(ending.has_signal && ending.signal == SIGKILL);
    CHECK_TEXT(ending.reason, "stopped: median rule");
}

static void kill_does_not_wait_for_the_grace(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder,
                          "trap '' TERM; echo up; while :; do sleep 0.02; done",
                          0, 600000);
    const pid_t shim = runner_fixture_start(folder);
    UNTIL(runner_fixture_file_has(folder, "stdout.000000000000.log", "up"));
    struct stop_order order = {.reason = "politely"};
    CHECK(folder_write_stop(folder, &order, NULL) == HT_OK);
    order.kill = true;
    CHECK(folder_write_stop(folder, &order, NULL) == HT_OK);
    CHECK(runner_fixture_wait(shim) == SHIM_DONE);
    order.kill = false; /* never goes back */
    CHECK(folder_write_stop(folder, &order, NULL) == HT_OK);
    CHECK(folder_read_stop(folder, &order, NULL) == HT_OK && order.kill);
}

static void a_stop_that_is_older_than_the_shim_counts(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "exec sleep 600", 0, 600000);
    const struct stop_order order = {.kill = true, .reason = "early"};
    CHECK(folder_write_stop(folder, &order, NULL) == HT_OK);
    CHECK_TEXT(runner_fixture_run(folder).reason, "stopped: early");
}

/* As when another replica ends first and takes this one with it. The trainer
 * ignores the order, as the shim may see it before the end. */
static void a_failure_after_a_stop_that_was_not_seen_is_a_stop(void)
{
    char folder[PATH_MAX];
    runner_fixture_folder(folder);
    runner_fixture_script(folder,
                          "trap '' TERM; echo 'stop by user' >s; "
                          "mv s $HYPERTUNE_TRIAL_DIR/stop; exit 3",
                          0, 20000);
    const struct ending ending = runner_fixture_run(folder);
    CHECK(ending.outcome == OUTCOME_STOPPED && ending.exit == 3);
    CHECK_TEXT(ending.reason, "stopped: by user");
}

static void the_shims_own_sigterm_stops_the_trainer(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "echo up; exec sleep 600", 0, 60000);
    const pid_t shim = runner_fixture_start(folder);
    UNTIL(runner_fixture_file_has(folder, "stdout.000000000000.log", "up"));
    kill(shim, SIGTERM);
    CHECK(runner_fixture_wait(shim) == SHIM_DONE);
    struct ending ending;
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_OK);
    CHECK(ending.outcome == OUTCOME_STOPPED && ending.signal == SIGTERM);
}

static void a_timeout_ends_the_trainer_and_is_the_reason(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "exec sleep 600", 100, 60000);
    const struct ending ending = runner_fixture_run(folder);
    CHECK(ending.outcome == OUTCOME_TIMEOUT);
    CHECK_TEXT(ending.reason, "ran longer than 100ms");
    CHECK(ending.has_signal && ending.signal == SIGTERM);
}

static void a_daemon_that_left_its_session_is_killed(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder,
                          "setsid sh -c 'trap \"\" TERM HUP; (echo $$ >pid; "
                          "while :; do sleep 0.02; done) & exit 0' & "
                          "until [ -s pid ]; do sleep 0.02; done",
                          0, 0);
    CHECK(runner_fixture_run(folder).outcome == OUTCOME_SUCCEEDED);
    CHECK(procfs_kill_leftovers(folder, NULL, 0) == 0);
}

static void a_leftover_that_holds_the_pipe_does_not_hang_the_end(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "sleep 600 & echo $! >pid; exit 4", 0, 0);
    const int64_t start = clock_monotonic_ms();
    CHECK(runner_fixture_run(folder).exit == 4);
    CHECK(clock_monotonic_ms() - start < 30000);
    CHECK(is_gone(pid_in(folder, "pid")));
}

static void killing_the_shim_kills_the_trainer(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "echo $$ >pid; exec sleep 600", 0, 0);
    const pid_t shim = runner_fixture_start(folder);
    UNTIL(runner_fixture_file_has(folder, "pid", "\n"));
    const pid_t trainer = pid_in(folder, "pid");
    CHECK(!is_gone(trainer));
    kill(shim, SIGKILL);
    CHECK(runner_fixture_wait(shim) == -SIGKILL);
    UNTIL(is_gone(trainer));
    CHECK(!disk_has(folder, "exit.json"));
}

static void a_folder_is_run_at_most_once(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "echo x >>runs; exec sleep 600", 0, 0);
    const pid_t first = runner_fixture_start(folder);
    UNTIL(runner_fixture_file_has(folder, "runs", "x\n"));
    CHECK(runner_fixture_wait(runner_fixture_start(folder)) ==
          SHIM_TAKEN); /* it runs */
    kill(first, SIGKILL);
    runner_fixture_wait(first);
    CHECK(runner_fixture_wait(runner_fixture_start(folder)) ==
          SHIM_TAKEN); /* it died */
    const struct ending lost = {.outcome = OUTCOME_LOST, .reason = "x"};
    CHECK(folder_write_exit(folder, &lost, NULL) == HT_OK);
    CHECK(runner_fixture_wait(runner_fixture_start(folder)) ==
          SHIM_DONE); /* it ended */
    char *runs = runner_fixture_text(folder, "runs");
    CHECK_TEXT(runs, "x\n");
    free(runs);
}

static void what_an_earlier_boot_launched_is_not_started(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    const char *const argv[] = {"/bin/sh", "-c", "echo x >ran"};
    const struct launch launch = {
        .argv = {3, argv}, .boot = "01234567-89ab-cdef-0123-456789abcdef"};
    CHECK(folder_write_launch(folder, &launch, NULL) == HT_OK);
    const struct ending ending = runner_fixture_run(folder);
    CHECK(ending.outcome == OUTCOME_LOST);
    CHECK_TEXT(ending.reason, "its supervisor could not start: "
                              "the machine was restarted");
    CHECK(!disk_has(folder, "ran"));
}

static void a_stop_long_after_the_start_is_seen_at_once(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "sleep 0.3; echo x >up; exec sleep 600", 0,
                          20000);
    const pid_t shim = runner_fixture_start(folder);
    UNTIL(disk_has(folder, "up"));
    const struct stop_order order = {.reason = "enough"};
    CHECK(folder_write_stop(folder, &order, NULL) == HT_OK);
    CHECK(runner_fixture_wait(shim) == SHIM_DONE);
    struct ending ending;
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_OK);
    CHECK_TEXT(ending.reason, "stopped: enough");
}

static void a_damaged_launch_is_lost_with_the_reason(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    CHECK(disk_write(folder, "launch.json", "{", 1, 0600, NULL) == HT_OK);
    const struct ending ending = runner_fixture_run(folder);
    CHECK(ending.outcome == OUTCOME_LOST);
    CHECK(strstr(ending.reason, "launch.json") != NULL);
}

/* ---- as the first process of a container ---- */

enum { EXIT_SKIP = 77 };

/* The sanitizers cannot do without /proc. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define HAS_SANITIZER 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

/* In the new process: no /proc, and the environment that the place has for its
 * user. */
_Noreturn static void exec_first(const char *folder)
{
    char *argv[] = {runner_fixture_shim, ht_xstrdup(folder), NULL};
    char *env[] = {ht_xstrdup("HOME=/there"), ht_xstrdup("MODE=there"), NULL};
    if (HAS_SANITIZER ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0)
        _exit(EXIT_SKIP);
    execve(runner_fixture_shim, argv, env);
    _exit(EXIT_SKIP);
}

/* The shim as process 1 of its own namespace; its exit code. */
static pid_t start_first(const char *folder)
{
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    const int user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
    if (unshare(CLONE_NEWPID | CLONE_NEWNS | user) != 0)
        _exit(EXIT_SKIP);
    const pid_t first = fork();
    if (first == 0)
        exec_first(folder);
    const int code = runner_fixture_wait(first);
    _exit(code < 0 ? 1 : code);
}

static const char *first_folder(char path[PATH_MAX], const char *script)
{
    static const char *const inherited[] = {"HOME", "MODE", "ABSENT"};
    const char *const argv[] = {"/bin/sh", "-c", script};
    const struct pair env[] = {{"PATH", "/usr/bin:/bin"}, {"MODE", "own"}};
    const struct launch launch = {.argv = {3, argv},
                                  .env = {2, env},
                                  .inherited = {3, inherited},
                                  .grace_ms = 20000};
    CHECK(folder_write_launch(runner_fixture_folder(path), &launch, NULL) ==
          HT_OK);
    return path;
}

/* Whether it ran; a machine without namespaces has nothing to show. */
static bool has_run(int code)
{
    if (code == EXIT_SKIP)
        printf("# no namespace can be made here\n");
    else
        CHECK(code == SHIM_DONE);
    return code == SHIM_DONE;
}

static void as_process_one_it_needs_no_proc_and_leaves_nothing(void)
{
    char path[PATH_MAX];
    const char *folder =
        first_folder(path, "echo $HOME $MODE ${ABSENT-none}; "
                           "(trap '' TERM; while :; do sleep 1; done) & "
                           "(sh -c 'exit 1' &); setsid sleep 600 & exit 5");
    struct ending ending;
    if (!has_run(runner_fixture_wait(start_first(folder))))
        return;
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_OK);
    CHECK_TEXT(ending.reason, "exit 5");
    CHECK(runner_fixture_file_has(folder, "stdout.000000000000.log",
                                  "/there own none\n"));
}

static void as_process_one_it_obeys_the_order_to_stop(void)
{
    char path[PATH_MAX];
    const char *folder =
        first_folder(path, "trap 'echo bye; exit 0' TERM; echo up >up; "
                           "while :; do sleep 0.02; done");
    char probe[PATH_MAX];
    if (!has_run(
            runner_fixture_wait(start_first(first_folder(probe, "exit 0")))))
        return;
    const pid_t pid = start_first(folder);
    UNTIL(disk_has(folder, "up"));
    const struct stop_order stop = {.reason = "by a test"};
    struct ending ending;
    CHECK(folder_write_stop(folder, &stop, NULL) == HT_OK);
    CHECK(has_run(runner_fixture_wait(pid)));
    CHECK(folder_read_exit(folder, &ending, NULL) == HT_OK);
    CHECK(ending.outcome == OUTCOME_STOPPED);
    CHECK(runner_fixture_file_has(folder, "stdout.000000000000.log", "bye"));
}

static void its_files_can_be_read_whatever_the_umask(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    runner_fixture_script(folder, "echo x; echo y >&2", 0, 5000);
    const mode_t before = umask(0077);
    const struct ending ending = runner_fixture_run(folder);
    umask(before);
    CHECK(ending.outcome == OUTCOME_SUCCEEDED);
    static const char *const names[] = {"exit.json", "shim.json",
                                        "stdout.000000000000.log",
                                        "stderr.000000000000.log"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[PATH_MAX + 64];
        struct stat info;
        (void)snprintf(file, sizeof file, "%s/%s", folder, names[i]);
        CHECK(stat(file, &info) == 0 && (info.st_mode & 0777) == 0644);
    }
}

int main(void)
{
    runner_fixture_init();
    RUN(an_exit_of_zero_is_success);
    RUN(an_exit_code_is_kept_and_reported);
    RUN(exit_codes_of_shells_are_put_in_words);
    RUN(a_signal_is_reported_by_number_and_name);
    RUN(a_missing_command_is_127_with_its_name);
    RUN(a_file_that_is_no_program_is_126);
    RUN(a_missing_interpreter_is_named);
    RUN(a_missing_workdir_is_reported);
    RUN(output_and_environment_are_the_trainers_own);
    RUN(output_before_the_end_is_never_lost);
    RUN(twenty_megabytes_are_kept_as_head_and_tail);
    RUN(stop_is_sigterm_and_its_reason);
    RUN(a_trainer_that_ignores_sigterm_is_killed_after_the_grace);
    RUN(kill_does_not_wait_for_the_grace);
    RUN(a_stop_that_is_older_than_the_shim_counts);
    RUN(a_failure_after_a_stop_that_was_not_seen_is_a_stop);
    RUN(the_shims_own_sigterm_stops_the_trainer);
    RUN(a_timeout_ends_the_trainer_and_is_the_reason);
    RUN(a_daemon_that_left_its_session_is_killed);
    RUN(a_leftover_that_holds_the_pipe_does_not_hang_the_end);
    RUN(killing_the_shim_kills_the_trainer);
    RUN(a_folder_is_run_at_most_once);
    RUN(what_an_earlier_boot_launched_is_not_started);
    RUN(a_stop_long_after_the_start_is_seen_at_once);
    RUN(a_damaged_launch_is_lost_with_the_reason);
    RUN(as_process_one_it_needs_no_proc_and_leaves_nothing);
    RUN(as_process_one_it_obeys_the_order_to_stop);
    RUN(its_files_can_be_read_whatever_the_umask);
    runner_fixture_fini();
    return check_done();
}
