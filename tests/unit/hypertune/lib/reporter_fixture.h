/* reporter_fixture.h - a process per case, and a server to report to.
 *
 * Every case is a process of its own, because the library reads its
 * environment once. */
#ifndef HT_TESTS_UNIT_HYPERTUNE_LIB_REPORTER_FIXTURE_H
#define HT_TESTS_UNIT_HYPERTUNE_LIB_REPORTER_FIXTURE_H

#include "hypertune/hypertune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* Makes the folder of all cases. The server program is a tool of the tests,
 * found from the folder of the programs. */
static bool fixture_begin(const char *programs)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(rep_server, sizeof rep_server, "%s/../tests/tools/rep_server",
             programs);
    snprintf(root, sizeof root, "%s/ht-reporter-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    return mkdtemp(root) != NULL;
}

/* The exit code of the test program. */
static int fixture_end(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return check_done() | (system(command) != 0);
}

#endif
