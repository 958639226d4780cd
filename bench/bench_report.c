/* bench_report - what one report costs the training loop.
 *
 * Three figures from one run: a bare formatted write(2) of a line as long as a
 * record, our report into the file alone, and our report beside a live server
 * on nng. Rounds alternate, the best of each counts, so that a busy machine
 * disturbs all alike. Every variant is its own process, because the
 * library reads its environment once, and nng's threads stay out of it. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>

#include "hypertune/hypertune.h"

enum { ROUNDS = 7, REPORTS = 5000 };

struct cost {
    double p50_us, p99_us;
};

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* A value that needs all 17 digits, as a real metric does. */
static double metric(int i)
{
    return 1.0 / (i + 3.0);
}

static bool write_bare(int fd, int i)
{
    char line[256];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int len = snprintf(
        line, sizeof line,
        "{\"w\":\"0123456789abcdef\",\"n\":%d,\"t\":%lld,\"s\":%d,"
        "\"m\":{\"accuracy\":%.17g}}\n",
        i, (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000, i, metric(i));
    return write(fd, line, (size_t)len) == len;
}

static bool report_ours(int fd, int i)
{
    (void)fd;
    return report_hyperparameter_tuning_metric("accuracy", metric(i), i,
                                               NULL) == 0;
}

static struct cost measure(bool (*step)(int fd, int i), int fd)
{
    static double took[REPORTS];
    double before = now_us();
    for (int i = 0; i < REPORTS; i++) {
        if (!step(fd, i))
            abort();
        double after = now_us();
        took[i] = after - before;
        before = after;
    }
    qsort(took, REPORTS, sizeof *took, by_value);
    return (struct cost){took[REPORTS / 2], took[REPORTS * 99 / 100]};
}

/* One round in its own process; url NULL: file only. */
static struct cost run_round(bool (*step)(int fd, int i), const char *url)
{
    int result[2];
    char path[] = "/tmp/ht-bench-XXXXXX";
    int fd = mkostemp(path, O_APPEND | O_CLOEXEC);
    if (fd < 0 || pipe(result) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        setenv("HYPERTUNE_REPORT_FILE", path, 1);
        if (url != NULL)
            setenv("HYPERTUNE_REPORT_URL", url, 1);
        step(fd, 0); /* opens, connects */
        hypertune_flush(2000);
        struct cost cost = measure(step, fd);
        _exit(write(result[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
    }
    struct cost cost;
    if (read(result[0], &cost, sizeof cost) != sizeof cost)
        abort();
    waitpid(pid, NULL, 0);
    close(result[0]);
    close(result[1]);
    close(fd);
    unlink(path);
    return cost;
}

static void keep_best(struct cost *best, struct cost cost, int round)
{
    if (round == 0 || cost.p50_us < best->p50_us)
        best->p50_us = cost.p50_us;
    if (round == 0 || cost.p99_us < best->p99_us)
        best->p99_us = cost.p99_us;
}

/* Acknowledges whatever comes; prints its address into the pipe. */
static void serve(int out)
{
    static char answer[] = "{\"v\":1,\"status\":\"ok\",\"thin\":1}";
    nng_socket rep;
    nng_listener listener;
    nng_sockaddr bound;
    if (nng_rep0_open(&rep) != 0 ||
        nng_listener_create(&listener, rep, "tcp://127.0.0.1:0") != 0 ||
        nng_listener_start(listener, 0) != 0 ||
        nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &bound) != 0)
        _exit(1);
    dprintf(out, "tcp://127.0.0.1:%d",
            (bound.s_in.sa_port & 0xFF) << 8 | bound.s_in.sa_port >> 8);
    close(out);
    for (nng_msg *message; nng_recvmsg(rep, &message, 0) == 0;) {
        nng_msg_free(message);
        nng_send(rep, answer, sizeof answer - 1, 0);
    }
    _exit(0);
}

static pid_t start_server(char url[64])
{
    int out[2];
    if (pipe(out) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0)
        serve(out[1]);
    close(out[1]);
    ssize_t len = read(out[0], url, 63);
    close(out[0]);
    if (len <= 0)
        abort();
    url[len] = '\0';
    return pid;
}

int main(void)
{
    char url[64];
    struct cost bare = {0};
    struct cost file = {0};
    struct cost live = {0};
    pid_t server = start_server(url);
    for (int round = 0; round < ROUNDS; round++) {
        keep_best(&bare, run_round(write_bare, NULL), round);
        keep_best(&file, run_round(report_ours, NULL), round);
        keep_best(&live, run_round(report_ours, url), round);
    }
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    printf("report.bare_p50_us=%.2f\nreport.bare_p99_us=%.2f\n", bare.p50_us,
           bare.p99_us);
    printf("report.file_p50_us=%.2f\nreport.file_p99_us=%.2f\n", file.p50_us,
           file.p99_us);
    printf("report.live_p50_us=%.2f\nreport.live_p99_us=%.2f\n", live.p50_us,
           live.p99_us);
    printf("report.file_ratio=%.2f\nreport.live_ratio=%.2f\n",
           file.p50_us / bare.p50_us, live.p50_us / bare.p50_us);
    return 0;
}
