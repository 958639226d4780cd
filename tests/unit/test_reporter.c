/* libhypertune as a trainer uses it: every case is a process of its own,
 * because the library reads its environment once. */
#include "hypertune/hypertune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "tests/check.h"

static char root[256];       /* of all cases */
static char rep_server[512]; /* the program */
static char folder[300];     /* of this case */
static char reports[320];    /* its report file */
static char store[320];      /* what its server has */

/* The thread sanitizer refuses a thread in the child of a process that had
 * one, and sleeps a second in every exit; both are what is tested here. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0:atexit_sleep_ms=0";
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void unset_all(void)
{
    static const char *const names[] = {
        "HYPERTUNE_REPORT_FILE",      "HYPERTUNE_REPORT_URL",
        "HYPERTUNE_TRIAL_TOKEN_FILE", "HYPERTUNE_TRIAL_DIR",
        "HYPERTUNE_REPLICA",          "CLOUD_ML_HP_METRIC_FILE",
        "CLOUD_ML_HP_METRIC_TAG",     "CLOUD_ML_TRIAL_ID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

/* Runs the body in a process with its own folder; the case's faults are those
 * of the body. Returns how long it took, with its exit, in ms. */
static long in_process(void (*body)(void))
{
    static int cases;
    snprintf(folder, sizeof folder, "%s/%d", root, cases++);
    snprintf(reports, sizeof reports, "%s/reports.jsonl", folder);
    snprintf(store, sizeof store, "%s/store", folder);
    CHECK(mkdir(folder, 0700) == 0);
    fflush(stdout);
    long start = now_ms();
    pid_t pid = fork();
    if (pid == 0) {
        check_faults = 0;
        unset_all();
        body();
        fflush(stdout);
        exit(check_faults > 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(status == 0);
    return now_ms() - start;
}

/* ---- a server in a process of its own ---- */

struct server {
    pid_t pid;
    int port;
    int stdin_fd; /* it ends when this closes */
};

static void server_start(struct server *server, int port, const char *mode)
{
    int in[2];
    int out[2];
    char number[16];
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    snprintf(number, sizeof number, "%d", port);
    fflush(stdout);
    server->pid = fork();
    if (server->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(rep_server, rep_server, number, store, mode, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    server->stdin_fd = in[1];
    FILE *ready = fdopen(out[0], "r");
    CHECK(fscanf(ready, "ready %d", &server->port) == 1);
    fclose(ready);
}

static void server_kill(struct server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    close(server->stdin_fd);
}

static void enter_trial(const struct server *server)
{
    char url[64];
    snprintf(url, sizeof url, "tcp://127.0.0.1:%d", server->port);
    setenv("HYPERTUNE_REPORT_URL", url, 1);
    setenv("HYPERTUNE_REPORT_FILE", reports, 1);
    setenv("HYPERTUNE_TRIAL_DIR", folder, 1);
    setenv("HYPERTUNE_REPLICA", "master-0", 1);
}

static int report(double value, int64_t step)
{
    return report_hyperparameter_tuning_metric("acc", value, step, NULL);
}

/* ---- what lies in a file of records ---- */

enum { MAX_WRITERS = 32 };

struct summary {
    int lines, torn, writers, doubles;
    char names[MAX_WRITERS][17];
    int count[MAX_WRITERS], highest[MAX_WRITERS];
    double last; /* acc of the last line */
};

static void add_record(struct summary *sum, const cJSON *record)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(record, "w");
    const cJSON *seq = cJSON_GetObjectItemCaseSensitive(record, "n");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(record, "m"), "acc");
    if (!cJSON_IsString(name) || !cJSON_IsNumber(seq)) {
        sum->torn++;
        return;
    }
    int i = 0;
    while (i < sum->writers && strcmp(sum->names[i], name->valuestring) != 0)
        i++;
    if (i == MAX_WRITERS)
        return;
    if (i == sum->writers)
        snprintf(sum->names[sum->writers++], 17, "%s", name->valuestring);
    sum->count[i]++;
    if (seq->valueint > sum->highest[i])
        sum->highest[i] = seq->valueint;
    if (cJSON_IsNumber(value))
        sum->last = value->valuedouble;
}

static struct summary summarize(const char *path)
{
    struct summary sum = {0};
    char line[16384];
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *end = NULL;
        cJSON *record = cJSON_ParseWithOpts(line, &end, 0);
        sum.lines++;
        if (record == NULL || *end != '\n')
            sum.torn++;
        else
            add_record(&sum, record);
        cJSON_Delete(record);
    }
    if (file != NULL)
        fclose(file);
    for (int i = 0; i < sum.writers; i++)
        sum.doubles += sum.count[i] != sum.highest[i];
    return sum;
}

/* The library's threads in this process, by name, as a sanitizer may have some
 * of its own; the id of one goes to `id`. */
static int own_threads(char id[16])
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[400];
        char name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(name, sizeof name, file) != NULL &&
            strcmp(name, "hypertune\n") == 0) {
            n++;
            snprintf(id, 16, "%.15s", task->d_name);
        }
        fclose(file);
    }
    closedir(tasks);
    return n;
}

/* ---- cases ---- */

static void outside_body(void)
{
    char id[16];
    CHECK(report(0.5, 1) == 0);
    CHECK(hypertune_should_stop() == 0);
    CHECK(hypertune_flush(1000) == 0);
    CHECK(own_threads(id) == 0);
}

static void outside_a_trial_nothing_happens_and_succeeds(void)
{
    in_process(outside_body);
}

static void file_only_body(void)
{
    char id[16];
    const struct hypertune_metric pair[] = {{NULL, 0.25}, {"loss", 2}};
    setenv("HYPERTUNE_REPORT_FILE", reports, 1);
    setenv("CLOUD_ML_HP_METRIC_FILE", "/nowhere/at/all", 1);
    setenv("CLOUD_ML_HP_METRIC_TAG", "objective", 1);
    CHECK(hypertune_report(pair, 2, -1, "") == 0);
    CHECK(report_hyperparameter_tuning_metric("", 0.5, 9, "gs://b/c") == 0);
    CHECK(hypertune_flush(1000) == ENOTCONN);
    CHECK(own_threads(id) == 0);
    char got[3][512];
    FILE *file = fopen(reports, "r");
    CHECK(fgets(got[0], 512, file) && fgets(got[1], 512, file) &&
          !fgets(got[2], 512, file));
    fclose(file);
    CHECK(strncmp(got[0], "{\"w\":\"", 6) == 0);
    CHECK_TEXT(strstr(got[0], ",\"m\":"),
               ",\"m\":{\"objective\":0.25,\"loss\":2}}\n");
    CHECK(strstr(got[0], "\"s\":") == NULL);
    CHECK_TEXT(strstr(got[1], ",\"s\":"),
               ",\"s\":9,\"m\":{\"objective\":0.5},\"c\":\"gs://b/c\"}\n");
    CHECK(access("/nowhere", F_OK) != 0);
}

static void reports_go_to_the_file_in_the_documented_form(void)
{
    in_process(file_only_body);
}

static void refusals_body(void)
{
    struct hypertune_metric many[17];
    char names[17][16];
    char name[200];
    static char path[5000];
    setenv("HYPERTUNE_REPORT_FILE", reports, 1);
    for (int i = 0; i < 17; i++) {
        snprintf(names[i], sizeof names[i], "m%d", i);
        many[i] = (struct hypertune_metric){names[i], i};
    }
    memset(name, 'x', sizeof name);
    memset(path, 'x', sizeof path - 1);
    name[128] = '\0';
    CHECK(hypertune_report(many, 0, 1, NULL) == EINVAL);
    CHECK(hypertune_report(many, 17, 1, NULL) == EINVAL);
    CHECK(report_hyperparameter_tuning_metric(name, 1, 1, NULL) == EINVAL);
    CHECK(report_hyperparameter_tuning_metric("a", 1, 1, path) == EINVAL);
    CHECK(access(reports, F_OK) != 0);
    CHECK(hypertune_report(many, 16, 1, NULL) == 0);
    CHECK(summarize(reports).highest[0] == 1);
}

static void wrong_arguments_are_refused_and_use_no_number(void)
{
    in_process(refusals_body);
}

static void nowhere_body(void)
{
    setenv("HYPERTUNE_REPORT_FILE", "/no/such/folder/reports.jsonl", 1);
    CHECK(report(1, 1) == EIO);
    CHECK(report(1, 1) == EIO);
}

static void a_report_that_goes_nowhere_is_an_error(void)
{
    in_process(nowhere_body);
}

static void window_body(void)
{
    char path[400];
    char line[512];
    int lines = 0;
    snprintf(path, sizeof path, "%s/new/folders/output.metrics", folder);
    setenv("CLOUD_ML_HP_METRIC_FILE", path, 1);
    setenv("CLOUD_ML_TRIAL_ID", "7", 1);
    for (int i = 0; i < 250; i++)
        CHECK(report(i, i) == 0);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char want[64];
        snprintf(want, sizeof want,
                 "{\"acc\": \"%d.0\", \"checkpoint_path\": \"\", "
                 "\"global_step\"",
                 150 + lines++);
        CHECK(strncmp(line, want, strlen(want)) == 0);
        CHECK(strstr(line, "\"trial\": \"7\"}\n") != NULL);
    }
    fclose(file);
    CHECK(lines == 100);
    CHECK(report_hyperparameter_tuning_metric("trial", 0.5, -5, NULL) == 0);
    file = fopen(path, "r");
    while (fgets(line, sizeof line, file) != NULL) {
    }
    fclose(file);
    CHECK(strstr(line, "\"global_step\": \"-5\"") != NULL);
    CHECK(strstr(line, "\"trial\": \"0.5\"}") != NULL);
}

static void googles_metric_file_holds_the_last_hundred_reports(void)
{
    in_process(window_body);
}

static void acknowledged_body(void)
{
    struct server server;
    server_start(&server, 0, "retry");
    enter_trial(&server);
    for (int i = 1; i <= 20; i++)
        CHECK(report(i, i) == 0);
    CHECK(hypertune_flush(10000) == 0);
    struct summary sum = summarize(store);
    CHECK(sum.lines == 20 && sum.writers == 1 && sum.doubles == 0);
    server_kill(&server);
}

static void flush_returns_when_the_server_has_every_report(void)
{
    in_process(acknowledged_body);
}

static void restart_body(void)
{
    struct server server;
    signal(SIGPIPE, SIG_DFL); /* a send to the dead must not end us */
    server_start(&server, 0, "ok");
    enter_trial(&server);
    CHECK(report(1, 1) == 0);
    CHECK(hypertune_flush(10000) == 0);
    server_kill(&server);
    for (int i = 2; i <= 50; i++)
        CHECK(report(i, i) == 0);
    CHECK(hypertune_flush(50) == ETIMEDOUT);
    server_start(&server, server.port, "ok");
    CHECK(hypertune_flush(10000) == 0);
    struct summary sum = summarize(store);
    CHECK(sum.lines == 50 && sum.highest[0] == 50 && sum.doubles == 0);
    server_kill(&server);
}

static void a_server_that_dies_and_returns_misses_nothing(void)
{
    in_process(restart_body);
}

static void *report_1000(void *argument)
{
    int *failures = argument;
    for (int i = 0; i < 1000; i++)
        *failures += report(i, i) != 0;
    return NULL;
}

static void threads_body(void)
{
    enum { THREADS = 8 };
    struct server server;
    pthread_t threads[THREADS];
    int failures[THREADS] = {0};
    server_start(&server, 0, "ok");
    enter_trial(&server);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, report_1000, &failures[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(failures[i] == 0);
    }
    CHECK(hypertune_flush(20000) == 0);
    struct summary sum = summarize(reports);
    CHECK(sum.lines == 8000 && sum.torn == 0 && sum.writers == 1);
    CHECK(sum.highest[0] == 8000);
    CHECK(summarize(store).lines == 8000);
    server_kill(&server);
}

static void eight_threads_report_a_thousand_times_each(void)
{
    in_process(threads_body);
}

static void report_200_and_leave(void)
{
    for (int i = 0; i < 200; i++)
        if (report(i, i) != 0)
            _exit(1);
    _exit(hypertune_flush(20000) == 0 ? 0 : 2);
}

static void forks_body(void)
{
    enum { CHILDREN = 4 };
    struct server server;
    pid_t pids[CHILDREN];
    server_start(&server, 0, "ok");
    enter_trial(&server);
    /* The thread runs, as in a real trainer; the flush lets it settle, because
     * a thread that only starts is inside the address sanitizer's allocator,
     * which unlike glibc's does not survive a fork. */
    CHECK(report(0, 0) == 0);
    CHECK(hypertune_flush(10000) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        CHECK(report(1, 1) == 0); /* keeps the thread busy while forking */
        fflush(stdout);
        pids[i] = fork();
        if (pids[i] == 0)
            report_200_and_leave();
    }
    for (int i = 0; i < 195; i++)
        CHECK(report(i, i) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        CHECK(status == 0);
    }
    CHECK(hypertune_flush(20000) == 0);
    struct summary sum = summarize(reports);
    CHECK(sum.lines == 1000 && sum.torn == 0);
    CHECK(sum.writers == 5 && sum.doubles == 0);
    sum = summarize(store);
    CHECK(sum.lines == 1000 && sum.writers == 5 && sum.doubles == 0);
    server_kill(&server);
}

static void forked_children_and_their_parent_report_at_once(void)
{
    in_process(forks_body);
}

static pthread_barrier_t all_ready;

static void *report_and_meet(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&all_ready);
    report(1, 1);
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
    _exit(hypertune_flush(20000) == 0 ? 0 : 2);
}

static void worker_body(void)
{
    struct server server;
    char id[16];
    server_start(&server, 0, "ok");
    enter_trial(&server);
    CHECK(report(1, 1) == 0);
    CHECK(hypertune_flush(10000) == 0);
    fflush(stdout);
    pid_t silent = fork(); /* as a data loader: it never reports */
    if (silent == 0)
        _exit(own_threads(id));
    pid_t worker = fork();
    if (worker == 0)
        race_in_child();
    int status = -1;
    waitpid(silent, &status, 0);
    CHECK(status == 0);
    waitpid(worker, &status, 0);
    CHECK(status == 0);
    CHECK(report(2, 2) == 0);
    CHECK(hypertune_flush(10000) == 0);
    struct summary sum = summarize(store);
    CHECK(sum.lines == 10 && sum.writers == 2 && sum.doubles == 0);
    server_kill(&server);
}

static void a_fork_with_the_thread_running_harms_neither_side(void)
{
    in_process(worker_body);
}

static void silent_body(void)
{
    struct server server;
    server_start(&server, 0, "silent");
    enter_trial(&server);
    CHECK(report(1, 1) == 0);
}

static void an_exit_waits_for_a_silent_server_200_ms_at_most(void)
{
    long took = in_process(silent_body);
    CHECK(took >= 150 && took < 1000);
    CHECK(summarize(reports).lines == 1);
}

static void last_value_body(void)
{
    struct server server;
    server_start(&server, 0, "ok");
    enter_trial(&server);
    CHECK(report(1, 1) == 0);
    CHECK(hypertune_flush(10000) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        report(2, 2);
        exit(0); /* runs the handler that the parent registered */
    }
    waitpid(pid, NULL, 0);
    struct summary sum = summarize(store);
    CHECK(sum.lines == 2 && sum.writers == 2);
    server_kill(&server);
}

static void a_forked_child_that_exits_delivers_its_last_value(void)
{
    in_process(last_value_body);
}

static void end_body(const char *mode)
{
    struct server server;
    server_start(&server, 0, mode);
    enter_trial(&server);
    CHECK(report(1, 1) == 0);
    long start = now_ms();
    CHECK(hypertune_flush(20000) == ETIMEDOUT);
    CHECK(now_ms() - start < 10000);
    CHECK(report(2, 2) == 0);
    CHECK(summarize(reports).lines == 2);
    server_kill(&server);
}

static void gone_body(void)
{
    end_body("gone");
}

static void denied_body(void)
{
    end_body("denied");
}

static void an_ended_attempt_is_no_longer_sent_for(void)
{
    in_process(gone_body);
    in_process(denied_body);
}

static void thin_body(void)
{
    struct server server;
    server_start(&server, 0, "thin=4");
    enter_trial(&server);
    CHECK(report(0, 0) == 0);
    CHECK(hypertune_flush(10000) == 0);
    for (int i = 1; i <= 102; i++)
        CHECK(report(i, i) == 0);
    CHECK(hypertune_flush(10000) == 0);
    struct summary sum = summarize(reports);
    /* 0, then 4, 8 ... 100, then the held 102 */
    CHECK(sum.lines == 27 && sum.highest[0] == 27 && sum.doubles == 0);
    CHECK(sum.last == 102);
    CHECK(summarize(store).last == 102);
    server_kill(&server);
}

static void thinning_keeps_every_fourth_and_the_last(void)
{
    in_process(thin_body);
}

static void stop_body(void)
{
    char path[400];
    setenv("HYPERTUNE_TRIAL_DIR", folder, 1);
    CHECK(hypertune_should_stop() == 0);
    snprintf(path, sizeof path, "%s/stop", folder);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    CHECK(hypertune_should_stop() == 1);
}

static void the_stop_file_asks_to_stop(void)
{
    in_process(stop_body);
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
    struct server server;
    server_start(&server, 0, "ok");
    enter_trial(&server);
    CHECK(report(1, 1) == 0);
    CHECK(hypertune_flush(10000) == 0);
    CHECK(own_threads(id) == 1);
    sigset_t own;
    sigprocmask(SIG_BLOCK, NULL, &own);
    CHECK(sigismember(&own, SIGINT) == 0);
    unsigned long long mask = blocked_signals(id);
    for (int number = 1; number < 32; number++)
        CHECK(number == SIGKILL || number == SIGSTOP ||
              (mask >> (number - 1) & 1) == 1);
    server_kill(&server);
}

static void the_one_thread_takes_no_signal(void)
{
    in_process(signals_body);
}

int main(int argc, char **argv)
{
    (void)argc;
    const char *temporary = getenv("TMPDIR");
    char self[400];
    snprintf(self, sizeof self, "%s", argv[0]);
    snprintf(rep_server, sizeof rep_server, "%s/../tools/rep_server",
             dirname(self));
    snprintf(root, sizeof root, "%s/ht-reporter-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(root) == NULL)
        return 1;
    RUN(outside_a_trial_nothing_happens_and_succeeds);
    RUN(reports_go_to_the_file_in_the_documented_form);
    RUN(wrong_arguments_are_refused_and_use_no_number);
    RUN(a_report_that_goes_nowhere_is_an_error);
    RUN(googles_metric_file_holds_the_last_hundred_reports);
    RUN(flush_returns_when_the_server_has_every_report);
    RUN(a_server_that_dies_and_returns_misses_nothing);
    RUN(eight_threads_report_a_thousand_times_each);
    RUN(forked_children_and_their_parent_report_at_once);
    RUN(a_fork_with_the_thread_running_harms_neither_side);
    RUN(an_exit_waits_for_a_silent_server_200_ms_at_most);
    RUN(a_forked_child_that_exits_delivers_its_last_value);
    RUN(an_ended_attempt_is_no_longer_sent_for);
    RUN(thinning_keeps_every_fourth_and_the_last);
    RUN(the_stop_file_asks_to_stop);
    RUN(the_one_thread_takes_no_signal);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return check_done() | (system(command) != 0);
}
