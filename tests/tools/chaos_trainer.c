/* chaos_trainer - a trainer that writes down what it reported and what was
 * confirmed, for tests/lib/checker.py.
 *
 *     chaos_trainer JOURNAL-DIR --x=0.5
 *
 * Everything it does follows from its study, trial and attempt. A line is
 * written with one write(2) before and after each call, so a kill at any
 * moment leaves a true journal. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hypertune/hypertune.h"

struct trainer {
    int journal;
    long long study, trial, attempt;
    uint64_t state; /* of the random stream */
};

struct call {
    const char *name; /* "report" or "flush" */
    int64_t seq;
    double value;
    int64_t start_ms;
};

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void write_line(const struct trainer *trainer, const struct call *call,
                       bool ended, int answer)
{
    char end[64] = "null,\"answer\":null";
    if (ended)
        snprintf(end, sizeof end, "%lld,\"answer\":%d", (long long)wall_ms(),
                 answer);
    char line[512];
    int len =
        snprintf(line, sizeof line,
                 "{\"client\":\"trainer-%d\",\"call\":\"%s\",\"study\":%lld,"
                 "\"trial\":%lld,\"attempt\":%lld,\"writer\":null,\"seq\":%lld,"
                 "\"step\":%lld,\"value\":%.17g,\"start\":%lld,\"end\":%s}\n",
                 (int)getpid(), call->name, trainer->study, trainer->trial,
                 trainer->attempt, (long long)call->seq, (long long)call->seq,
                 call->value, (long long)call->start_ms, end);
    if (write(trainer->journal, line, (size_t)len) != len) {
        perror("chaos_trainer: journal");
        _exit(90);
    }
}

static int report(const struct trainer *trainer, int64_t seq)
{
    struct call call = {"report", seq, 0.0, wall_ms()};
    call.value = (double)trainer->trial + (double)seq / 1024.0;
    write_line(trainer, &call, false, 0);
    int answer =
        report_hyperparameter_tuning_metric("accuracy", call.value, seq, NULL);
    write_line(trainer, &call, true, answer);
    return answer;
}

/* A server that is down for a moment is part of the test: not confirmed in
 * time is an answer like another. */
static void flush(const struct trainer *trainer, int64_t seq)
{
    const struct call call = {"flush", seq, 0.0, wall_ms()};
    write_line(trainer, &call, false, 0);
    write_line(trainer, &call, true, hypertune_flush(1000));
}

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static unsigned pick(struct trainer *trainer, unsigned below)
{
    uint64_t z = trainer->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (unsigned)((z ^ (z >> 31)) % below);
}

static void work(struct trainer *trainer)
{
    const struct timespec pause = {0, (long)(5 + pick(trainer, 55)) * 1000000};
    nanosleep(&pause, NULL);
}

/* HYPERTUNE_TRIAL_DIR is DATA/runs/STUDY/TRIAL/ATTEMPT/REPLICA; a container's
 * name is ht-SERVER-STUDY-TRIAL-ATTEMPT-REPLICA. */
static bool read_place(struct trainer *trainer)
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    if (sscanf(host, "ht-%*[^-]-%lld-%lld-%lld-", &trainer->study,
               &trainer->trial, &trainer->attempt) == 3)
        return true;
    const char *dir = getenv("HYPERTUNE_TRIAL_DIR");
    const char *runs = dir == NULL ? NULL : strstr(dir, "/runs/");
    for (const char *next = runs; next != NULL;) {
        runs = next; /* the last one: the data folder may have such a name */
        next = strstr(next + 1, "/runs/");
    }
    return runs != NULL &&
           sscanf(runs, "/runs/%lld/%lld/%lld/", &trainer->study,
                  &trainer->trial, &trainer->attempt) == 3;
}

static bool open_journal(struct trainer *trainer, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%lld-%lld-%lld-%d.jsonl", folder,
             trainer->study, trainer->trial, trainer->attempt, (int)getpid());
    trainer->journal =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    return trainer->journal >= 0;
}

int main(int argc, char *argv[])
{
    struct trainer trainer = {.journal = -1};
    if (argc < 2 || !read_place(&trainer) || !open_journal(&trainer, argv[1])) {
        fprintf(stderr, "chaos_trainer: no trial or no journal: %s\n",
                strerror(errno));
        return 2;
    }
    trainer.state = (uint64_t)trainer.study << 40 ^
                    (uint64_t)trainer.trial << 8 ^ (uint64_t)trainer.attempt;
    const int64_t reports = 3 + pick(&trainer, 8);
    for (int64_t seq = 1; seq <= reports; seq++) {
        work(&trainer);
        if (report(&trainer, seq) != 0)
            return 3;
        if (pick(&trainer, 3) == 0)
            flush(&trainer, seq);
    }
    flush(&trainer, reports);
    close(trainer.journal);
    return 0;
}
