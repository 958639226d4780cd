#include "tuner/logs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/text.h"
#include "tuner/db_logs.h"
#include "tuner/log.h"

enum {
    QUEUE_BYTES = 32 * 1024 * 1024, /* of chunks that wait for the disk */
    GROUP_CHUNKS = 256,             /* stored by one commit */
    REMOVE_SLICE = 200,             /* chunks forgotten between two commits */
    THREAD_STACK = 256 * 1024
};

struct pending {
    int64_t study, trial, attempt;
    char *replica, *stream, *data;
    struct log_chunk chunk;
    log_done *done;
    void *context;
    int64_t next; /* the answer */
    struct pending *link;
};

struct forget {
    int64_t study;
    struct forget *link;
};

struct logs {
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the queue, bytes, forgotten, stopping */
    pthread_cond_t work;
    struct pending *first, **last;
    size_t bytes;
    struct forget *forgotten;
    bool stopping;
    struct db_logs *writer; /* of the thread */

    pthread_mutex_t read_lock; /* guards the connection that all readers use */
    struct db_logs *reader;    /* opened with the first question */
};

static struct log_key key_of(const struct pending *pending)
{
    return (struct log_key){pending->study, pending->trial, pending->attempt,
                            pending->replica, pending->stream};
}

static void pending_free(struct pending *pending)
{
    free(pending->replica);
    free(pending->stream);
    free(pending->data);
    free(pending);
}

/* Takes at most GROUP_CHUNKS of the queue. */
static struct pending *take_group(struct logs *logs)
{
    struct pending *group = logs->first, *end = group;
    for (int i = 1; end != NULL && end->link != NULL && i < GROUP_CHUNKS; i++)
        end = end->link;
    if (end == NULL)
        return NULL;
    logs->first = end->link;
    if (logs->first == NULL)
        logs->last = &logs->first;
    end->link = NULL;
    for (struct pending *at = group; at != NULL; at = at->link)
        logs->bytes -= at->chunk.len;
    return group;
}

/* A chunk that begins before what is stored is not cut, since replaced bytes
 * hide where; its sender learns the offset wanted and sends from there. */
static enum ht_status store_one(struct logs *logs, struct pending *pending,
                                struct ht_error *err)
{
    struct log_key key = key_of(pending);
    int64_t next;
    enum ht_status status = db_logs_next(logs->writer, &key, &next, err);
    if (status != HT_OK)
        return status;
    pending->next = next;
    if (pending->chunk.offset < next || pending->chunk.raw == 0)
        return HT_OK;
    status = db_logs_insert(logs->writer, &key, &pending->chunk, err);
    if (status == HT_OK)
        pending->next = pending->chunk.offset + pending->chunk.raw;
    return status;
}

static void store_group(struct logs *logs, struct pending *group)
{
    struct ht_error err;
    enum ht_status status = db_logs_begin(logs->writer, &err);
    bool begun = status == HT_OK;
    for (struct pending *at = group; status == HT_OK && at != NULL;
         at = at->link)
        status = store_one(logs, at, &err);
    if (status == HT_OK)
        status = db_logs_commit(logs->writer, &err);
    if (status != HT_OK) {
        log_event(LOG_ERROR, "logs.failed", "reason=\"%s\"", err.text);
        if (begun)
            db_logs_rollback(logs->writer);
    }
    while (group != NULL) {
        struct pending *at = group;
        group = at->link;
        at->done(at->context, status, at->next);
        pending_free(at);
    }
}

/* Removes one slice; false when the study is gone (or cannot be removed). */
static bool forget_slice(struct logs *logs, int64_t study)
{
    struct ht_error err;
    int64_t removed = 0;
    enum ht_status status =
        db_logs_remove(logs->writer, study, REMOVE_SLICE, &removed, &err);
    if (status != HT_OK)
        log_event(LOG_ERROR, "logs.forget", "study=%lld reason=\"%s\"",
                  (long long)study, err.text);
    return status == HT_OK && removed == REMOVE_SLICE;
}

static void forget_step(struct logs *logs)
{
    pthread_mutex_lock(&logs->lock);
    struct forget *head = logs->forgotten;
    pthread_mutex_unlock(&logs->lock);
    if (head == NULL || forget_slice(logs, head->study))
        return;
    pthread_mutex_lock(&logs->lock);
    struct forget **at = &logs->forgotten;
    while (*at != head)
        at = &(*at)->link;
    *at = head->link;
    pthread_mutex_unlock(&logs->lock);
    free(head);
}

static void *run(void *context)
{
    struct logs *logs = context;
    for (;;) {
        pthread_mutex_lock(&logs->lock);
        while (logs->first == NULL && logs->forgotten == NULL &&
               !logs->stopping)
            pthread_cond_wait(&logs->work, &logs->lock);
        struct pending *group = take_group(logs);
        bool done = group == NULL && logs->stopping;
        pthread_mutex_unlock(&logs->lock);
        if (done)
            return NULL;
        if (group != NULL)
            store_group(logs, group);
        forget_step(logs);
    }
}

static void release(struct logs *logs)
{
    while (logs->forgotten != NULL) {
        struct forget *next = logs->forgotten->link;
        free(logs->forgotten);
        logs->forgotten = next;
    }
    db_logs_close(logs->writer);
    db_logs_close(logs->reader);
    pthread_mutex_destroy(&logs->lock);
    pthread_mutex_destroy(&logs->read_lock);
    pthread_cond_destroy(&logs->work);
    free(logs->path);
    free(logs);
}

bool logs_has_stream(const char *stream)
{
    return strcmp(stream, "stdout") == 0 || strcmp(stream, "stderr") == 0 ||
           strcmp(stream, "runner") == 0;
}

enum ht_status logs_start(const char *path, struct logs **out,
                          struct ht_error *err)
{
    struct logs *logs = ht_xcalloc(1, sizeof *logs);
    logs->path = ht_xstrdup(path);
    logs->last = &logs->first;
    pthread_mutex_init(&logs->lock, NULL);
    pthread_mutex_init(&logs->read_lock, NULL);
    pthread_cond_init(&logs->work, NULL);
    enum ht_status status = db_logs_open(path, true, &logs->writer, err);
    if (status == HT_OK) {
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, THREAD_STACK);
        int failed = pthread_create(&logs->thread, &attr, run, logs);
        pthread_attr_destroy(&attr);
        if (failed != 0)
            status = ht_fail_errno(err, failed, "cannot start the log thread");
    }
    if (status != HT_OK) {
        release(logs);
        return status;
    }
    *out = logs;
    return HT_OK;
}

void logs_stop(struct logs *logs)
{
    if (logs == NULL)
        return;
    pthread_mutex_lock(&logs->lock);
    logs->stopping = true;
    pthread_cond_signal(&logs->work);
    pthread_mutex_unlock(&logs->lock);
    pthread_join(logs->thread, NULL);
    release(logs);
}

// NOLINTNEXTLINE(readability-function-size): the contract of logs.h
void logs_append(struct logs *logs, const struct log_key *key, int64_t offset,
                 int64_t raw_bytes, const char *data, size_t len,
                 log_done *done, void *context)
{
    struct pending *pending = ht_xcalloc(1, sizeof *pending);
    pending->study = key->study;
    pending->trial = key->trial;
    pending->attempt = key->attempt;
    pending->replica = ht_xstrdup(key->replica);
    pending->stream = ht_xstrdup(key->stream);
    pending->data = ht_xcalloc(len, 1);
    memcpy(pending->data, data, len);
    pending->chunk = (struct log_chunk){offset, raw_bytes, pending->data, len};
    pending->done = done;
    pending->context = context;

    pthread_mutex_lock(&logs->lock);
    bool accepted = !logs->stopping && logs->bytes + len <= QUEUE_BYTES;
    if (accepted) {
        *logs->last = pending;
        logs->last = &pending->link;
        logs->bytes += len;
        pthread_cond_signal(&logs->work);
    }
    pthread_mutex_unlock(&logs->lock);
    if (!accepted) {
        done(context, HT_UNAVAILABLE, 0);
        pending_free(pending);
    }
}

void logs_forget(struct logs *logs, int64_t study)
{
    struct forget *forget = ht_xcalloc(1, sizeof *forget);
    forget->study = study;
    pthread_mutex_lock(&logs->lock);
    forget->link = logs->forgotten;
    logs->forgotten = forget;
    pthread_cond_signal(&logs->work);
    pthread_mutex_unlock(&logs->lock);
}

/* --- reading --- */

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Cuts a chunk to [from, from + limit) where bytes can be counted, at the
 * borders of characters but never to nothing; a chunk with replaced bytes
 * stays whole. */
static void cut_chunk(struct log_chunk *chunk, int64_t from, size_t limit)
{
    if ((size_t)chunk->raw != chunk->len)
        return;
    size_t skip = from > chunk->offset ? (size_t)(from - chunk->offset) : 0;
    while (skip > 0 && skip < chunk->len && is_continuation(chunk->data[skip]))
        skip++;
    size_t len = chunk->len - skip;
    if (len > limit) {
        len = limit;
        while (len > 0 && is_continuation(chunk->data[skip + len]))
            len--;
        len = len > 0 ? len : limit;
        while (is_continuation(chunk->data[skip + len]))
            len++;
    }
    chunk->offset += (int64_t)skip;
    chunk->data += skip;
    chunk->len = len;
    chunk->raw = (int64_t)len;
}

struct log_window {
    int64_t offset;
    size_t limit;
};

static enum ht_status read_slice(struct logs *logs, struct arena *arena,
                                 const struct log_key *key,
                                 const struct log_window *window,
                                 struct log_slice *slice, struct ht_error *err)
{
    struct text joined = {0};
    struct log_chunk chunk = {0};
    int64_t start = -1, next = window->offset;
    enum ht_status status;
    for (;;) {
        status = db_logs_find(logs->reader, arena, key, next, &chunk, err);
        bool is_gap = start >= 0 && chunk.offset > next;
        if (status != HT_OK || is_gap)
            break;
        size_t room = window->limit - joined.len;
        if (start >= 0 && (size_t)chunk.raw != chunk.len && chunk.len > room)
            break;
        int64_t end = chunk.offset + chunk.raw;
        cut_chunk(&chunk, next, room);
        start = start < 0 ? chunk.offset : start;
        next = chunk.offset + chunk.raw;
        text_append(&joined, chunk.data, chunk.len);
        if (joined.len >= window->limit || next != end)
            break;
    }
    if (status == HT_OK || status == HT_NOT_FOUND) {
        slice->offset = start < 0 ? window->offset : start;
        slice->next = next;
        slice->len = joined.len;
        slice->data =
            arena_strndup(arena, joined.data ? joined.data : "", joined.len);
        status = HT_OK;
    }
    text_free(&joined);
    return status;
}

// NOLINTNEXTLINE(readability-function-size): the contract of logs.h
enum ht_status logs_read(struct logs *logs, struct arena *arena,
                         const struct log_key *key, int64_t offset,
                         size_t limit, struct log_slice *slice,
                         struct ht_error *err)
{
    pthread_mutex_lock(&logs->read_lock);
    enum ht_status status = HT_OK;
    if (logs->reader == NULL)
        status = db_logs_open(logs->path, false, &logs->reader, err);
    if (status == HT_OK && offset < 0) {
        int64_t end;
        status = db_logs_next(logs->reader, key, &end, err);
        offset = status == HT_OK && end + offset > 0 ? end + offset : 0;
    }
    if (status == HT_OK)
        status = read_slice(logs, arena, key,
                            &(struct log_window){offset, limit}, slice, err);
    pthread_mutex_unlock(&logs->read_lock);
    return status;
}
