#include "runner/attempt/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "runner/base/child.h"

enum {
    LOOK_MS = 20, /* between reads of what a child prints */
    MOST_PROBES = 48,
    PIECE_BYTES = 16 * 1024
};

struct probe {
    char *key; /* NULL: the place is free */
    int fd;    /* the child's output, -1: it is complete */
    pid_t pid;
    int64_t asked_ms, patience_ms;
    bool more, failed;
    struct text output;
};

struct probes {
    const struct site *site;
    struct probe items[MOST_PROBES];
};

struct probes *probes_new(const struct site *site)
{
    struct probes *probes = ht_xcalloc(1, sizeof *probes);
    probes->site = site;
    for (size_t i = 0; i < MOST_PROBES; i++)
        probes->items[i].fd = -1;
    return probes;
}

/* The supervisor reaps it with the other children. */
static void stop_child(struct probe *probe)
{
    if (probe->fd < 0)
        return;
    close(probe->fd);
    probe->fd = -1;
    kill(probe->pid, SIGKILL);
}

static void forget(struct probe *probe)
{
    stop_child(probe);
    free(probe->key);
    text_free(&probe->output);
    *probe = (struct probe){.fd = -1};
}

void probes_free(struct probes *probes)
{
    for (size_t i = 0; probes != NULL && i < MOST_PROBES; i++)
        forget(&probes->items[i]);
    free(probes);
}

static const char *const *with_guest(struct arena *arena,
                                     const struct site *site,
                                     const char *const argv[])
{
    const struct strings *before = &site->guest_command;
    size_t n = 0;
    while (argv[n] != NULL)
        n++;
    const char **words = arena_alloc(arena, before->n + n + 1, sizeof *words);
    for (size_t i = 0; i < before->n; i++)
        words[i] = before->items[i];
    for (size_t i = 0; i < n; i++)
        words[before->n + i] = argv[i];
    return words;
}

/* The runner's own may have secrets of other jobs. */
static const char *const *usual_environment(struct arena *arena,
                                            const struct site *site)
{
    const struct pairs *inherited = &site->inherited;
    const char *path = getenv("PATH");
    const char **env = arena_alloc(arena, inherited->n + 2, sizeof *env);
    for (size_t i = 0; i < inherited->n; i++)
        env[i] = arena_printf(arena, "%s=%s", inherited->items[i].name,
                              inherited->items[i].value);
    env[inherited->n] =
        path != NULL ? arena_printf(arena, "PATH=%s", path) : NULL;
    return env;
}

static void begin(const struct site *site, struct probe *probe,
                  const struct probe_question *question, int64_t now_ms)
{
    int ends[2];
    forget(probe);
    probe->key = ht_xstrdup(question->key);
    probe->asked_ms = now_ms;
    probe->patience_ms = question->patience_ms;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    /* Only this end: a program may give up when its stdout would block. */
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct arena *arena = arena_new();
    const struct child child = {.argv = with_guest(arena, site, question->argv),
                                .env = question->env != NULL
                                           ? question->env
                                           : usual_environment(arena, site),
                                .input = -1,
                                .output = ends[1]};
    if (child_start(&child, &probe->pid) == 0)
        probe->fd = ends[0];
    else
        close(ends[0]);
    close(ends[1]);
    arena_free(arena);
}

static void read_output(struct probe *probe,
                        const struct probe_question *question, int64_t now_ms)
{
    char piece[PIECE_BYTES];
    ssize_t n = 1;
    if (probe->fd < 0)
        return;
    while (n > 0 && probe->output.len <= question->most) {
        n = read(probe->fd, piece, sizeof piece);
        if (n > 0)
            text_append(&probe->output, piece, (size_t)n);
    }
    const bool late = now_ms - probe->asked_ms >= question->patience_ms;
    probe->more = probe->output.len > question->most;
    if (n == 0) { /* it has exited, its pid may be used again */
        close(probe->fd);
        probe->fd = -1;
    } else if (probe->more || late || errno != EAGAIN) {
        stop_child(probe);
    }
    probe->failed = probe->fd < 0 && n != 0 && !probe->more;
    if (probe->failed)
        text_clear(&probe->output); /* half an answer is none */
}

/* Nothing asks for its answer any more: the attempt is gone. */
static bool is_abandoned(const struct probe *probe, int64_t now_ms)
{
    return probe->fd >= 0 && now_ms - probe->asked_ms > 2 * probe->patience_ms;
}

/* The place of the question, else the best one for it; NULL: all are in use.
 * One that waits for its child keeps its place, or many at once would end each
 * other's. */
static struct probe *find(struct probes *probes, const char *key,
                          int64_t now_ms)
{
    struct probe *oldest = NULL;
    for (size_t i = 0; i < MOST_PROBES; i++) {
        struct probe *probe = &probes->items[i];
        if (probe->key != NULL && strcmp(probe->key, key) == 0)
            return probe;
        if (is_abandoned(probe, now_ms))
            forget(probe);
        if (probe->fd < 0 &&
            (oldest == NULL || probe->asked_ms < oldest->asked_ms))
            oldest = probe;
    }
    return oldest;
}

struct probe_answer probe_ask(struct probes *probes,
                              const struct probe_question *question,
                              int64_t now_ms)
{
    struct probe *probe = find(probes, question->key, now_ms);
    if (probe == NULL)
        return (struct probe_answer){.output = ""};
    if (probe->key == NULL || strcmp(probe->key, question->key) != 0 ||
        (probe->fd < 0 && probe->asked_ms < question->since_ms))
        begin(probes->site, probe, question, now_ms);
    read_output(probe, question, now_ms);
    /* It has just answered somebody's earlier question. */
    if (probe->fd < 0 && probe->asked_ms < question->since_ms)
        begin(probes->site, probe, question, now_ms);
    if (probe->fd >= 0)
        return (struct probe_answer){.output = ""};
    return (struct probe_answer){.known = true,
                                 .more = probe->more,
                                 .failed = probe->failed,
                                 .output = text_string(&probe->output),
                                 .len = probe->more ? question->most
                                                    : probe->output.len};
}

int64_t probes_wake_at(const struct probes *probes, int64_t now_ms)
{
    for (size_t i = 0; i < MOST_PROBES; i++) {
        const struct probe *probe = &probes->items[i];
        if (probe->fd >= 0 && !is_abandoned(probe, now_ms))
            return now_ms + LOOK_MS;
    }
    return INT64_MAX;
}
