#include "tests/lib/reporting.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "hypertune/hypertune.h"

char reporting_folder[300];
char reporting_file[320];
char reporting_store[320];

static char root[256];    /* of all cases */
static char program[512]; /* the server */

/* The thread sanitizer refuses a thread in the child of a process that had
 * one, and sleeps a second in every exit; both are what is tested here. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0:atexit_sleep_ms=0";
}

long reporting_now_ms(void)
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

long reporting_run(void (*body)(void))
{
    static int cases;
    snprintf(reporting_folder, sizeof reporting_folder, "%s/%d", root, cases++);
    snprintf(reporting_file, sizeof reporting_file, "%s/reports.jsonl",
             reporting_folder);
    snprintf(reporting_store, sizeof reporting_store, "%s/store",
             reporting_folder);
    CHECK(mkdir(reporting_folder, 0700) == 0);
    fflush(stdout);
    long start = reporting_now_ms();
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
    return reporting_now_ms() - start;
}

/* ---- a server in its own process ---- */

void reporting_server_start(struct reporting_server *server, int port,
                            const char *mode)
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
        execl(program, program, number, reporting_store, mode, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    server->stdin_fd = in[1];
    FILE *ready = fdopen(out[0], "r");
    CHECK(fscanf(ready, "ready %d", &server->port) == 1);
    fclose(ready);
}

void reporting_server_kill(struct reporting_server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    close(server->stdin_fd);
}

void reporting_enter(const struct reporting_server *server)
{
    char url[64];
    snprintf(url, sizeof url, "tcp://127.0.0.1:%d", server->port);
    setenv("HYPERTUNE_REPORT_URL", url, 1);
    setenv("HYPERTUNE_REPORT_FILE", reporting_file, 1);
    setenv("HYPERTUNE_TRIAL_DIR", reporting_folder, 1);
    setenv("HYPERTUNE_REPLICA", "master-0", 1);
}

int reporting_report(double value, int64_t step)
{
    return report_hyperparameter_tuning_metric("acc", value, step, NULL);
}

/* ---- what is in a file of records ---- */

static void add_record(struct reporting_summary *sum, const cJSON *record)
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

struct reporting_summary reporting_summary_of(const char *path)
{
    struct reporting_summary sum = {0};
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

int reporting_threads(char id[16])
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

bool reporting_init(const char *programs)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(program, sizeof program, "%s/../tests/tools/rep_server", programs);
    snprintf(root, sizeof root, "%s/ht-reporter-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    return mkdtemp(root) != NULL;
}

int reporting_done(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return check_done() | (system(command) != 0);
}
