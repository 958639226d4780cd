/* stream.c - one connection: the frames at its streams. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/far/parts.h"

enum {
    STEP_MS = 1000,
    ASK_MS = 15000,
    SILENT_MS = 60000,       /* it looks every second */
    MOST_BEFORE = 64 * 1024, /* bytes before FRAME_BEGIN */
    READ_BYTES = 16 * 1024
};

int link_end(struct link *link)
{
    const int code = link->far->way->close(&link->stream, link->words);
    text_clear(&link->incoming);
    text_clear(&link->outgoing);
    link->sent = 0;
    return code;
}

/* ---- what comes ---- */

bool link_fail(struct link *link, const char *words)
{
    (void)snprintf(link->words, sizeof link->words, "%s", words);
    return false;
}

static void note_connection(struct far *far, const struct frame *frame)
{
    if (far->root == NULL)
        far->root = ht_xstrdup(frame->path);
    far->connection = ++far->last;
    far->answered = far->asked;
    far->fault[0] = '\0';
    text_clear(&far->queue);
    for (struct far_tree *tree = far->trees; tree != NULL; tree = tree->next)
        tree->state = FAR_PENDING;
    pthread_cond_broadcast(&far->changed);
}

static bool greet(struct link *link, const struct frame *frame)
{
    struct far *far = link->far;
    bool same = true;
    if (frame->kind != FRAME_HELLO || frame->number != FRAME_VERSION ||
        frame->path[0] != '/')
        return link_fail(link, "the other side is another version");
    pthread_mutex_lock(&far->lock);
    if (far->root != NULL)
        same = strcmp(far->root, frame->path) == 0;
    if (same)
        note_connection(far, frame);
    pthread_mutex_unlock(&far->lock);
    if (!same)
        return link_fail(link, "its folder has another path than before");
    link->greeted = true;
    log_event(LOG_INFO, "far.connected", "place=%s root=%s", far->name,
              frame->path);
    frame_write(&link->outgoing,
                &(struct frame){.kind = FRAME_HELLO, .number = FRAME_VERSION});
    return true;
}

static bool take(struct link *link, const struct frame *frame)
{
    struct ht_error err;
    struct far *far = link->far;
    if (!link->greeted)
        return greet(link, frame);
    pthread_mutex_lock(&far->lock);
    const enum ht_status status = far_receive(far, frame, &err);
    pthread_mutex_unlock(&far->lock);
    return status == HT_OK || link_fail(link, err.text);
}

/* A login shell may have printed something before. */
static bool find_begin(struct link *link)
{
    struct text *in = &link->incoming;
    const size_t len = sizeof FRAME_BEGIN - 1;
    const char *begin = memmem(in->data, in->len, FRAME_BEGIN, len);
    if (begin == NULL)
        return in->len < MOST_BEFORE ||
               link_fail(link, "its shell prints too much at a login");
    const size_t used = (size_t)(begin - in->data) + len;
    memmove(in->data, in->data + used, in->len - used);
    in->len -= used;
    link->begun = true;
    return true;
}

static bool take_all(struct link *link)
{
    struct text *in = &link->incoming;
    struct frame frame;
    struct ht_error err;
    size_t at = 0, used = 0;
    enum ht_status status = HT_OK;
    if (!link->begun && (!find_begin(link) || !link->begun))
        return !link->begun && in->len < MOST_BEFORE;
    while ((status = frame_read(in->data + at, in->len - at, &frame, &used,
                                &err)) == HT_OK) {
        if (!take(link, &frame))
            return false;
        at += used;
    }
    memmove(in->data, in->data + at, in->len - at);
    in->len -= at;
    if (in->len == 0)
        text_free(in);
    return status == HT_NOT_FOUND || link_fail(link, err.text);
}

static bool read_frames(struct link *link)
{
    char bytes[READ_BYTES];
    const struct far_way *way = link->far->way;
    ssize_t n;
    while ((n = way->read(&link->stream, bytes, sizeof bytes)) > 0) {
        link->heard_at = clock_monotonic_ms();
        text_append(&link->incoming, bytes, (size_t)n);
        if (!take_all(link))
            return false;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Keeps the last line. */
static void read_errors(struct link *link)
{
    char bytes[sizeof link->words];
    const ssize_t n = read(link->stream.errors, bytes, sizeof bytes - 1);
    if (n <= 0) {
        close(link->stream.errors);
        link->stream.errors = -1;
        return;
    }
    bytes[n] = '\0';
    for (ssize_t i = n; i-- > 0 && (unsigned char)bytes[i] <= ' ';)
        bytes[i] = '\0';
    const char *line = strrchr(bytes, '\n');
    struct text words = {0};
    line = line != NULL ? line + 1 : bytes;
    text_clean(&words, line, strlen(line));
    if (words.len > 0)
        (void)link_fail(link, text_string(&words));
    text_free(&words);
}

/* ---- what goes ---- */

static bool write_frames(struct link *link)
{
    struct text *out = &link->outgoing;
    const ssize_t n = link->far->way->write(
        &link->stream, out->data + link->sent, out->len - link->sent);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    link->sent += (size_t)n;
    if (out->len > 0 && link->sent == out->len) {
        text_free(out);
        link->sent = 0;
    }
    return true;
}

/* The queue, once all before it has gone. */
static void take_queue(struct link *link)
{
    struct far *far = link->far;
    if (!link->greeted || link->outgoing.len > 0)
        return;
    const int64_t now = clock_monotonic_ms();
    pthread_mutex_lock(&far->lock);
    if (now >= link->ask_at) {
        link->ask_at = now + ASK_MS;
        far_queue(far,
                  &(struct frame){.kind = FRAME_ASK, .number = ++far->asked});
    }
    link->outgoing = far->queue;
    far->queue = (struct text){0};
    pthread_mutex_unlock(&far->lock);
}

bool far_is_stopping(struct far *far)
{
    pthread_mutex_lock(&far->lock);
    const bool stopping = far->stopping;
    pthread_mutex_unlock(&far->lock);
    return stopping;
}

/* Waits for something to do, and does it; false: the connection is gone. */
bool link_step(struct link *link)
{
    eventfd_t count;
    take_queue(link);
    const struct far_stream *stream = &link->stream;
    const bool writes =
        link->outgoing.len > 0 || link->far->way->is_full(stream);
    struct pollfd fds[] = {
        {.fd = stream->in, .events = POLLIN},
        {.fd = writes ? stream->out : -1, .events = POLLOUT},
        {.fd = stream->errors, .events = POLLIN},
        {.fd = link->far->wake, .events = POLLIN},
    };
    const int n = poll(fds, 4, STEP_MS);
    if (far_is_stopping(link->far))
        return false;
    if (clock_monotonic_ms() - link->heard_at > SILENT_MS)
        return link_fail(link, "it does not answer");
    if (n <= 0)
        return true;
    if (fds[3].revents != 0)
        (void)eventfd_read(link->far->wake, &count);
    if (fds[2].revents != 0)
        read_errors(link);
    return (fds[0].revents == 0 || read_frames(link)) &&
           (fds[1].revents == 0 || write_frames(link));
}

/* Bytes may have come with the connection, and are not at the descriptor. */
bool link_start(struct link *link)
{
    struct far *far = link->far;
    link->begun = link->greeted = false;
    link->heard_at = clock_monotonic_ms();
    link->ask_at = link->trees_at = 0;
    link->words[0] = '\0';
    link->stream = (struct far_stream){.in = -1, .out = -1, .errors = -1};
    return far->way->open(far->context, &link->stream, link->words) &&
           read_frames(link);
}

bool link_push(struct link *link, const struct frame *frame)
{
    for (take_queue(link); link->outgoing.len > 0; take_queue(link))
        if (!link_step(link))
            return false;
    frame_write(&link->outgoing, frame);
    return true;
}
