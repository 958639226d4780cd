#include "runner/pods/line.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "runner/far/far.h"
#include "runner/kubernetes/client.h"
#include "runner/kubernetes/pipe.h"
#include "runner/pods/shape.h"

const char pod_kit_without[] = "bin/hypertune-shim";

struct pod_line {
    struct pod_line *next;
    struct arena *arena;
    struct kube *kube;
    const char *namespace, *pod, *container;
    struct far *far;
};

/* All lines: attempts do not outlive the runner's last second, lines do. */
static struct {
    pthread_mutex_t lock;
    struct pod_line *first;
} lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the way ---- */

static bool line_open(void *context, struct far_stream *stream,
                      char words[FAR_WORDS_BYTES])
{
    static const char *const argv[] = {POD_BIN "/shim", "--pod-mirror",
                                       POD_ROOT, NULL};
    const struct pod_line *line = context;
    const struct kube_command command = {.namespace = line->namespace,
                                         .pod = line->pod,
                                         .container = line->container,
                                         .argv = argv};
    struct kube_pipe *pipe = NULL;
    struct ht_error err;
    if (kube_pipe_open(line->kube, &command, &pipe, &err) != HT_OK) {
        (void)snprintf(words, FAR_WORDS_BYTES, "%.150s", err.text);
        return false;
    }
    stream->data = pipe;
    stream->in = stream->out = kube_pipe_fd(pipe);
    return true;
}

static ssize_t line_read(struct far_stream *stream, char *bytes, size_t len)
{
    return kube_pipe_read(stream->data, bytes, len);
}

static ssize_t line_write(struct far_stream *stream, const char *bytes,
                          size_t len)
{
    return kube_pipe_write(stream->data, bytes, len);
}

static bool line_is_full(const struct far_stream *stream)
{
    return kube_pipe_is_full(stream->data);
}

static int line_close(struct far_stream *stream, char words[FAR_WORDS_BYTES])
{
    const char *last = "";
    if (stream->data == NULL)
        return -1;
    const int code = kube_pipe_result(stream->data, &last);
    if (last[0] != '\0')
        (void)snprintf(words, FAR_WORDS_BYTES, "%.150s", last);
    kube_pipe_close(stream->data);
    stream->data = NULL;
    return code;
}

static void line_explain(const void *context, int code,
                         const char words[FAR_WORDS_BYTES],
                         char fault[FAR_FAULT_BYTES])
{
    const struct pod_line *line = context;
    (void)code;
    (void)snprintf(fault, FAR_FAULT_BYTES,
                   "the files in %.63s cannot be reached: %.150s", line->pod,
                   words[0] != '\0' ? words : "the connection ended");
}

/* The line outlives its far. */
static void line_end(void *context)
{
    (void)context;
}

static const struct far_way way = {.open = line_open,
                                   .read = line_read,
                                   .write = line_write,
                                   .is_full = line_is_full,
                                   .close = line_close,
                                   .explain = line_explain,
                                   .end = line_end};

/* ---- begin and end ---- */

enum ht_status pod_line_open(const struct pod_line_settings *settings,
                             struct pod_line **line, struct ht_error *err)
{
    struct pod_line *made = ht_xcalloc(1, sizeof *made);
    *made = (struct pod_line){.arena = arena_new(),
                              .kube = kube_new_beside(settings->kube),
                              .namespace = settings->namespace,
                              .container = settings->container};
    made->pod = arena_strdup(made->arena, settings->pod);
    const struct far_settings far = {.site = settings->site,
                                     .name = made->pod,
                                     .way = &way,
                                     .context = made,
                                     .kit = settings->kit,
                                     .kit_without = pod_kit_without};
    const enum ht_status status = far_open(&far, &made->far, err);
    if (status != HT_OK) {
        kube_free(made->kube);
        arena_free(made->arena);
        free(made);
        return status;
    }
    pthread_mutex_lock(&lines.lock);
    made->next = lines.first;
    lines.first = made;
    pthread_mutex_unlock(&lines.lock);
    *line = made;
    return HT_OK;
}

struct far *pod_line_far(const struct pod_line *line)
{
    return line->far;
}

void pod_line_stop(struct pod_line *line)
{
    kube_abort(line->kube);
    far_stop(line->far);
}

void pod_line_close(struct pod_line *line)
{
    if (line == NULL)
        return;
    pthread_mutex_lock(&lines.lock);
    struct pod_line **link = &lines.first;
    while (*link != line)
        link = &(*link)->next;
    *link = line->next;
    pthread_mutex_unlock(&lines.lock);
    pod_line_stop(line);
    far_close(line->far);
    kube_free(line->kube);
    arena_free(line->arena);
    free(line);
}

void pod_line_close_all(void)
{
    for (struct pod_line *line = lines.first; line != NULL; line = line->next)
        pod_line_stop(line);
    while (lines.first != NULL)
        pod_line_close(lines.first);
}
