/* libhypertune in trainers with threads, forks and signals of their own. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hypertune/hypertune.h"
#include "tests/lib/reporting.h"

static void *report_1000(void *argument)
{
    int *failures = argument;
    for (int i = 0; i < 1000; i++)
        *failures += reporting_report(i, i) != 0;
    return NULL;
}

static void threads_body(void)
{
    enum { THREADS = 8 };
    struct reporting_server server;
    pthread_t threads[THREADS];
    int failures[THREADS] = {0};
    reporting_server_start(&server, 0, "ok");
    reporting_enter(&server);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, report_1000, &failures[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(failures[i] == 0);
    }
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct reporting_summary sum = reporting_summary_of(reporting_file);
    CHECK(sum.lines == 8000 && sum.torn == 0 && sum.writers == 1);
    CHECK(sum.highest[0] == 8000);
    CHECK(reporting_summary_of(reporting_store).lines == 8000);
    reporting_server_kill(&server);
}

static void eight_threads_report_a_thousand_times_each(void)
{
    reporting_run(threads_body);
}

static void report_200_and_leave(void)
{
    for (int i = 0; i < 200; i++)
        if (reporting_report(i, i) != 0)
            _exit(1);
    _exit(hypertune_flush(PATIENCE_MS) == 0 ? 0 : 2);
}

static void forks_body(void)
{
    enum { CHILDREN = 4 };
    struct reporting_server server;
    pid_t pids[CHILDREN];
    reporting_server_start(&server, 0, "ok");
    reporting_enter(&server);
    /* The thread runs, as in a real trainer; the flush lets it settle, because
     * a thread that only starts is inside the address sanitizer's allocator,
     * which unlike glibc's does not survive a fork. */
    CHECK(reporting_report(0, 0) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        CHECK(reporting_report(1, 1) ==
              0); /* keeps the thread busy while forking */
        fflush(stdout);
        pids[i] = fork();
        if (pids[i] == 0)
            report_200_and_leave();
    }
    for (int i = 0; i < 195; i++)
        CHECK(reporting_report(i, i) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        CHECK(status == 0);
    }
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct reporting_summary sum = reporting_summary_of(reporting_file);
    CHECK(sum.lines == 1000 && sum.torn == 0);
    CHECK(sum.writers == 5 && sum.doubles == 0);
    sum = reporting_summary_of(reporting_store);
    CHECK(sum.lines == 1000 && sum.writers == 5 && sum.doubles == 0);
    reporting_server_kill(&server);
}

static void forked_children_and_their_parent_report_at_once(void)
{
    reporting_run(forks_body);
}

static pthread_barrier_t all_ready;

static void *report_and_meet(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&all_ready);
    reporting_report(1, 1);
    return NULL;
}

/* Every thread of the child finds the parent's reporter and wants a new one. */
static void race_in_child(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_ready, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, report_and_meet, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    _exit(hypertune_flush(PATIENCE_MS) == 0 ? 0 : 2);
}

static void worker_body(void)
{
    struct reporting_server server;
    char id[16];
    reporting_server_start(&server, 0, "ok");
    reporting_enter(&server);
    CHECK(reporting_report(1, 1) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    fflush(stdout);
    pid_t silent = fork(); /* as a data loader: it never reports */
    if (silent == 0)
        _exit(reporting_threads(id));
    pid_t worker = fork();
    if (worker == 0)
        race_in_child();
    int status = -1;
    waitpid(silent, &status, 0);
    CHECK(status == 0);
    waitpid(worker, &status, 0);
    CHECK(status == 0);
    CHECK(reporting_report(2, 2) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    struct reporting_summary sum = reporting_summary_of(reporting_store);
    CHECK(sum.lines == 10 && sum.writers == 2 && sum.doubles == 0);
    reporting_server_kill(&server);
}

static void a_fork_with_the_thread_running_harms_neither_side(void)
{
    reporting_run(worker_body);
}

static void silent_body(void)
{
    struct reporting_server server;
    reporting_server_start(&server, 0, "silent");
    reporting_enter(&server);
    CHECK(reporting_report(1, 1) == 0);
}

static void an_exit_does_not_wait_long_for_a_silent_server(void)
{
    long took = reporting_run(silent_body);
    CHECK(took >= 150 && took < 10000);
    CHECK(reporting_summary_of(reporting_file).lines == 1);
}

static void last_value_body(void)
{
    struct reporting_server server;
    reporting_server_start(&server, 0, "ok");
    reporting_enter(&server);
    CHECK(reporting_report(1, 1) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        reporting_report(2, 2);
        exit(0); /* runs the handler that the parent registered */
    }
    waitpid(pid, NULL, 0);
    struct reporting_summary sum = reporting_summary_of(reporting_store);
    CHECK(sum.lines == 2 && sum.writers == 2);
    reporting_server_kill(&server);
}

static void a_forked_child_that_exits_delivers_its_last_value(void)
{
    reporting_run(last_value_body);
}

static unsigned long long blocked_signals(const char *task)
{
    char path[400];
    char line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "SigBlk:", 7) == 0)
            mask = strtoull(line + 7, NULL, 16);
    if (file != NULL)
        fclose(file);
    return mask;
}

static void signals_body(void)
{
    char id[16];
    struct reporting_server server;
    reporting_server_start(&server, 0, "ok");
    reporting_enter(&server);
    CHECK(reporting_report(1, 1) == 0);
    CHECK(hypertune_flush(PATIENCE_MS) == 0);
    CHECK(reporting_threads(id) == 1);
    sigset_t own;
    sigprocmask(SIG_BLOCK, NULL, &own);
    CHECK(sigismember(&own, SIGINT) == 0);
    unsigned long long mask = blocked_signals(id);
    for (int number = 1; number < 32; number++)
        CHECK(number == SIGKILL || number == SIGSTOP ||
              (mask >> (number - 1) & 1) == 1);
    reporting_server_kill(&server);
}

static void the_one_thread_takes_no_signal(void)
{
    reporting_run(signals_body);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !reporting_init(argv[1]))
        return 1;
    RUN(eight_threads_report_a_thousand_times_each);
    RUN(forked_children_and_their_parent_report_at_once);
    RUN(a_fork_with_the_thread_running_harms_neither_side);
    RUN(an_exit_does_not_wait_long_for_a_silent_server);
    RUN(a_forked_child_that_exits_delivers_its_last_value);
    RUN(the_one_thread_takes_no_signal);
    return reporting_done();
}
