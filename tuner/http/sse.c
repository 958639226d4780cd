#include "tuner/http/sse.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "tuner/db/rows.h"
#include "tuner/http/reply.h"

enum { NONE = -1, BLOCK_BYTES = 4096, LINE_BYTES = 128 };

/* Studies are in a list from the least to the most recently changed, so a
 * stream finds new ones at the end. Links are indices, as the array moves when
 * it grows. */
struct entry {
    int64_t study, revision;
    int64_t turn; /* value of sse->turn when it changed last */
    int before, after;
    char *project; /* owned; NULL: not said yet */
};

struct stream {
    struct sse *sse;
    struct MHD_Connection *connection;
    int64_t seen;     /* turn of the newest entry that was written */
    int64_t wrote_ms; /* monotonic, as the next */
    int64_t ends_ms;  /* its client asks again, and is asked for its token */
    bool suspended, comment;
    char project[HT_MAX_NAME + 1]; /* see struct sse_client, as the next */
    int64_t study;
    struct stream *next;
};

struct sse {
    pthread_mutex_t lock;  /* guards everything */
    struct entry *entries; /* by study id */
    int n, room;
    int oldest, newest;
    int64_t turn;
    struct stream *streams;
    int n_streams;
    bool closed;
};

struct sse *sse_new(void)
{
    struct sse *sse = ht_xcalloc(1, sizeof *sse);
    pthread_mutex_init(&sse->lock, NULL);
    sse->oldest = sse->newest = NONE;
    return sse;
}

void sse_free(struct sse *sse)
{
    if (sse == NULL)
        return;
    pthread_mutex_destroy(&sse->lock);
    for (int i = 0; i < sse->n; i++)
        free(sse->entries[i].project);
    free(sse->entries);
    free(sse);
}

/* First index whose study is not below `study`. */
static int lower_bound(const struct sse *sse, int64_t study)
{
    int low = 0, high = sse->n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sse->entries[middle].study < study)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void shift(int *index, int at)
{
    *index += *index >= at;
}

/* Room for an entry at `at`. New studies have the highest id, so in practice
 * this appends and nothing moves. */
static void insert(struct sse *sse, int at, int64_t study)
{
    if (sse->n == sse->room) {
        sse->room = sse->room > 0 ? 2 * sse->room : 16;
        sse->entries =
            ht_xrealloc(sse->entries, (size_t)sse->room, sizeof *sse->entries);
    }
    if (at < sse->n) {
        memmove(&sse->entries[at + 1], &sse->entries[at],
                (size_t)(sse->n - at) * sizeof *sse->entries);
        for (int i = 0; i <= sse->n; i++) {
            shift(&sse->entries[i].before, at);
            shift(&sse->entries[i].after, at);
        }
        shift(&sse->oldest, at);
        shift(&sse->newest, at);
    }
    sse->n++;
    sse->entries[at] = (struct entry){
        .study = study, .revision = -1, .before = NONE, .after = NONE};
}

static void unlink_entry(struct sse *sse, int at)
{
    const struct entry *entry = &sse->entries[at];
    if (entry->before != NONE)
        sse->entries[entry->before].after = entry->after;
    else if (sse->oldest == at)
        sse->oldest = entry->after;
    if (entry->after != NONE)
        sse->entries[entry->after].before = entry->before;
    else if (sse->newest == at)
        sse->newest = entry->before;
}

static void append_entry(struct sse *sse, int at)
{
    struct entry *entry = &sse->entries[at];
    entry->before = sse->newest;
    entry->after = NONE;
    if (sse->newest != NONE)
        sse->entries[sse->newest].after = at;
    else
        sse->oldest = at;
    sse->newest = at;
}

static void wake(struct stream *stream)
{
    if (!stream->suspended)
        return;
    stream->suspended = false;
    MHD_resume_connection(stream->connection);
}

void sse_publish(struct sse *sse, int64_t study, int64_t revision,
                 const char *project)
{
    memory_lock(&sse->lock);
    int at = lower_bound(sse, study);
    if (at == sse->n || sse->entries[at].study != study)
        insert(sse, at, study);
    if (project != NULL && sse->entries[at].project == NULL)
        sse->entries[at].project = ht_xstrdup(project);
    if (sse->entries[at].revision < revision) {
        unlink_entry(sse, at);
        append_entry(sse, at);
        sse->entries[at].revision = revision;
        sse->entries[at].turn = ++sse->turn;
        for (struct stream *s = sse->streams; s != NULL; s = s->next)
            wake(s);
    }
    memory_unlock(&sse->lock);
}

static void unshift(int *index, int at)
{
    *index -= *index > at;
}

static void drop(struct sse *sse, int at)
{
    unlink_entry(sse, at);
    free(sse->entries[at].project);
    sse->n--;
    memmove(&sse->entries[at], &sse->entries[at + 1],
            (size_t)(sse->n - at) * sizeof *sse->entries);
    for (int i = 0; i < sse->n; i++) {
        unshift(&sse->entries[i].before, at);
        unshift(&sse->entries[i].after, at);
    }
    unshift(&sse->oldest, at);
    unshift(&sse->newest, at);
}

static void drop_deleted(struct sse *sse)
{
    int64_t sent = sse->turn; /* by every stream */
    for (const struct stream *s = sse->streams; s != NULL; s = s->next)
        sent = s->seen < sent ? s->seen : sent;
    for (int at = sse->n - 1; at >= 0; at--)
        if (sse->entries[at].revision == REVISION_DELETED &&
            sse->entries[at].turn <= sent)
            drop(sse, at);
}

/* The oldest entry the stream has not seen. */
static int first_unseen(const struct sse *sse, int64_t seen)
{
    int found = NONE;
    for (int at = sse->newest; at != NONE && sse->entries[at].turn > seen;
         at = sse->entries[at].before)
        found = at;
    return found;
}

static size_t write_event(const struct entry *entry, char *buffer, size_t room)
{
    if (entry->revision == REVISION_DELETED)
        return (size_t)snprintf(
            buffer, room,
            "event: revision\ndata: {\"study\":%lld,\"deleted\":true}\n\n",
            (long long)entry->study);
    return (size_t)snprintf(
        buffer, room,
        "event: revision\ndata: {\"study\":%lld,\"revision\":%lld}\n\n",
        (long long)entry->study, (long long)entry->revision);
}

static bool shows(const struct stream *stream, const struct entry *entry)
{
    if (stream->study > 0 && entry->study != stream->study)
        return false;
    return stream->project[0] == '\0' ||
           (entry->project != NULL &&
            strcmp(stream->project, entry->project) == 0);
}

/* Nobody has been shown a study that was deleted before that. */
static bool must_ask_again(const struct stream *stream,
                           const struct entry *entry)
{
    return stream->project[0] != '\0' && entry->project == NULL &&
           entry->revision != REVISION_DELETED;
}

/* Writes as many whole events as fit. */
static size_t write_events(struct stream *stream, char *buffer, size_t room)
{
    const struct sse *sse = stream->sse;
    size_t used = 0;
    for (int at = first_unseen(sse, stream->seen);
         at != NONE && room - used >= LINE_BYTES; at = sse->entries[at].after) {
        const struct entry *entry = &sse->entries[at];
        if (must_ask_again(stream, entry))
            stream->ends_ms = 0;
        if (shows(stream, entry))
            used += write_event(entry, buffer + used, room - used);
        stream->seen = entry->turn;
    }
    if (used == 0 && stream->comment && room >= LINE_BYTES)
        used = (size_t)snprintf(buffer, room, ": still here\n\n");
    stream->comment = false;
    return used;
}

static ssize_t produce(void *context, uint64_t position, char *buffer,
                       size_t room)
{
    struct stream *stream = context;
    struct sse *sse = stream->sse;
    (void)position;
    memory_lock(&sse->lock);
    ssize_t n = MHD_CONTENT_READER_END_OF_STREAM;
    if (!sse->closed && clock_monotonic_ms() < stream->ends_ms) {
        n = (ssize_t)write_events(stream, buffer, room);
        if (n == 0 && stream->ends_ms == 0) {
            n = MHD_CONTENT_READER_END_OF_STREAM;
        } else if (n == 0) {
            stream->suspended = true;
            MHD_suspend_connection(stream->connection);
        } else {
            stream->wrote_ms = clock_monotonic_ms();
        }
    }
    memory_unlock(&sse->lock);
    return n;
}

static void detach(void *context)
{
    struct stream *stream = context;
    struct sse *sse = stream->sse;
    memory_lock(&sse->lock);
    struct stream **at = &sse->streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    sse->n_streams--;
    memory_unlock(&sse->lock);
    free(stream);
}

static struct stream *attach(struct sse *sse, const struct sse_client *client,
                             struct ht_error *err)
{
    struct stream *stream = NULL;
    memory_lock(&sse->lock);
    if (sse->closed) {
        ht_fail(err, HT_UNAVAILABLE, "the server is stopping");
    } else if (sse->n_streams >= SSE_MAX_STREAMS) {
        ht_fail(err, HT_LIMIT, "%d event streams are open, no more are given",
                SSE_MAX_STREAMS);
    } else {
        stream = ht_xcalloc(1, sizeof *stream);
        stream->sse = sse;
        stream->connection = client->connection;
        snprintf(stream->project, sizeof stream->project, "%s",
                 client->project);
        stream->study = client->study;
        stream->comment = true; /* headers go out with the first byte */
        stream->wrote_ms = clock_monotonic_ms();
        stream->ends_ms = stream->wrote_ms + SSE_STREAM_MS;
        stream->next = sse->streams;
        sse->streams = stream;
        sse->n_streams++;
    }
    memory_unlock(&sse->lock);
    return stream;
}

enum ht_status sse_attach(struct sse *sse, const struct sse_client *client,
                          struct ht_error *err)
{
    struct ht_error why;
    struct stream *stream = attach(sse, client, &why);
    if (stream == NULL)
        return ht_fail(err, why.status, "%s", why.text);
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK_BYTES, produce, stream, detach);
    if (response == NULL) {
        detach(stream);
        return ht_fail(err, HT_UNAVAILABLE, "no memory for a stream");
    }
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    if (client->is_head)
        http_fit_head(response);
    MHD_queue_response(client->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return HT_OK;
}

void sse_tick(struct sse *sse, int64_t now_ms)
{
    memory_lock(&sse->lock);
    for (struct stream *s = sse->streams; s != NULL; s = s->next) {
        if (now_ms - s->wrote_ms < SSE_COMMENT_MS)
            continue;
        s->comment = true;
        wake(s);
    }
    drop_deleted(sse);
    memory_unlock(&sse->lock);
}

void sse_close(struct sse *sse)
{
    memory_lock(&sse->lock);
    sse->closed = true;
    for (struct stream *s = sse->streams; s != NULL; s = s->next)
        wake(s);
    memory_unlock(&sse->lock);
}

bool sse_is_empty(struct sse *sse)
{
    memory_lock(&sse->lock);
    bool empty = sse->streams == NULL;
    memory_unlock(&sse->lock);
    return empty;
}
