#include "tuner/logs/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tuner/db/db.h"
#include "tuner/logs/db_logs.h"
#include "tuner/logs/log_lines.h"
#include "tuner/logs/log_room.h"
#include "tuner/logs/logs.h"
#include "tuner/logs/set_aside.h"

enum {
    QUEUE_BYTES = 32 * 1024 * 1024, /* of chunks that wait for the disk */
    GROUP_CHUNKS = 256,             /* stored by one commit */
    REMOVE_SLICE = 200,             /* chunks forgotten between two commits */
    THREAD_STACK = 256 * 1024
};

struct pending {
    struct log_key key;
    char *replica, *stream, *data; /* of the key and the chunk */
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

int64_t logs_stamp(int64_t last_us, int64_t wall_us)
{
    const int64_t hour_us = INT64_C(3600000000);
    return last_us < wall_us || last_us - wall_us > hour_us ? wall_us
                                                            : last_us + 1;
}

/* A chunk that begins before what is stored is not cut, since replaced bytes
 * hide where; its sender learns the offset wanted and sends from there. */
static enum ht_status store_one(struct logs *logs, struct pending *pending,
                                struct ht_error *err)
{
    const struct log_key *key = &pending->key;
    struct log_chunk *chunk = &pending->chunk;
    struct log_end end;
    enum ht_status status = db_logs_end(logs->writer, key, &end, err);
    if (status != HT_OK)
        return status;
    pending->next = end.next;
    if (chunk->offset < end.next || chunk->raw == 0)
        return HT_OK;
    logs->newest_us = logs_stamp(logs->newest_us, clock_wall_us());
    const size_t open = chunk->offset == end.next ? (size_t)end.open : 0;
    chunk->open = (int64_t)log_lines_open(chunk->data, chunk->len, open);
    status = db_logs_insert(logs->writer, key, chunk, logs->newest_us, err);
    if (status == HT_OK)
        status = log_room_make(logs->room, logs->writer, key, err);
    if (status == HT_OK)
        pending->next = chunk->offset + chunk->raw;
    return status;
}

void logs_note_damage(struct logs *logs, const char *why)
{
    pthread_mutex_lock(&logs->damage_lock);
    const bool first = logs->damage[0] == '\0';
    if (first)
        snprintf(logs->damage, sizeof logs->damage, "%s", why);
    pthread_mutex_unlock(&logs->damage_lock);
    if (first)
        log_event(LOG_ERROR, "logs.damaged", "reason=\"%s\"", why);
}

void logs_damage(struct logs *logs, char why[LOGS_DAMAGE_BYTES])
{
    pthread_mutex_lock(&logs->damage_lock);
    snprintf(why, LOGS_DAMAGE_BYTES, "%s", logs->damage);
    pthread_mutex_unlock(&logs->damage_lock);
}

static enum ht_status open_writer(struct logs *logs, struct ht_error *err)
{
    struct ht_error why;
    char aside[sizeof logs->aside];
    enum ht_status status = db_logs_open(logs->path, true, &logs->writer, &why);
    if (status == HT_OK)
        return status;
    if (status != HT_CORRUPT)
        return ht_fail(err, status, "%s", why.text);
    logs_note_damage(logs, why.text);
    status = logs_set_aside(logs->path, why.text, aside, err);
    if (status != HT_OK)
        return status;
    memcpy(logs->aside, aside, sizeof aside);
    return db_logs_open(logs->path, true, &logs->writer, err);
}

/* A page that storing needs is damaged. */
static void begin_anew(struct logs *logs, const char *why)
{
    struct ht_error err;
    logs_note_damage(logs, why);
    memory_lock(&logs->read_lock);
    db_close(logs->reader);
    db_close(logs->writer);
    logs->reader = logs->writer = NULL;
    enum ht_status status = logs_set_aside(logs->path, why, logs->aside, &err);
    if (status == HT_OK)
        status = open_writer(logs, &err);
    else
        logs->aside[0] = '\0';
    memory_unlock(&logs->read_lock);
    log_room_forget(logs->room);
    if (status != HT_OK)
        log_event(LOG_ERROR, "logs.failed", "reason=\"%s\"", err.text);
}

static void store_group(struct logs *logs, struct pending *group)
{
    struct ht_error err;
    enum ht_status status =
        logs->writer != NULL ? HT_OK : open_writer(logs, &err);
    if (status == HT_OK)
        status = db_begin(logs->writer, &err);
    bool begun = status == HT_OK;
    for (struct pending *at = group; status == HT_OK && at != NULL;
         at = at->link)
        status = store_one(logs, at, &err);
    if (status == HT_OK)
        status = db_commit(logs->writer, &err);
    if (status != HT_OK) {
        log_event(LOG_ERROR, "logs.failed", "reason=\"%s\"", err.text);
        log_room_forget(logs->room);
        if (begun)
            db_rollback(logs->writer);
        if (status == HT_CORRUPT && logs->writer != NULL)
            begin_anew(logs, err.text);
    }
    while (group != NULL) {
        struct pending *at = group;
        group = at->link;
        at->done(at->context, status == HT_OK ? HT_OK : HT_UNAVAILABLE,
                 at->next);
        pending_free(at);
    }
}

/* Removes one slice; false when nothing is left (or it cannot be removed). */
static bool forget_slice(struct logs *logs, int64_t study)
{
    struct ht_error err;
    int64_t removed = 0;
    if (logs->writer == NULL)
        return false;
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

/* Before anything new is stored, so that chunks keep their order. */
static void salvage_once(struct logs *logs)
{
    if (logs->aside[0] == '\0' || logs->writer == NULL)
        return;
    logs_salvage(logs->aside, logs->writer);
    logs->aside[0] = '\0';
    db_logs_newest(logs->writer, &logs->newest_us, NULL);
}

static void *run(void *context)
{
    struct logs *logs = context;
    for (;;) {
        pthread_mutex_lock(&logs->lock);
        while (logs->first == NULL && logs->forgotten == NULL &&
               logs->aside[0] == '\0' && !logs->stopping)
            pthread_cond_wait(&logs->work, &logs->lock);
        struct pending *group = take_group(logs);
        bool done = group == NULL && logs->stopping;
        pthread_mutex_unlock(&logs->lock);
        if (done)
            return NULL;
        salvage_once(logs);
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
    db_close(logs->writer);
    db_close(logs->reader);
    log_room_free(logs->room);
    pthread_mutex_destroy(&logs->lock);
    pthread_mutex_destroy(&logs->read_lock);
    pthread_mutex_destroy(&logs->damage_lock);
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
    logs->room = log_room_new();
    pthread_mutex_init(&logs->lock, NULL);
    pthread_mutex_init(&logs->read_lock, NULL);
    pthread_mutex_init(&logs->damage_lock, NULL);
    pthread_cond_init(&logs->work, NULL);
    enum ht_status status = open_writer(logs, err);
    if (status == HT_OK)
        status = db_logs_newest(logs->writer, &logs->newest_us, err);
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
    pending->key = *key;
    pending->key.replica = pending->replica = ht_xstrdup(key->replica);
    pending->key.stream = pending->stream = ht_xstrdup(key->stream);
    pending->data = ht_xcalloc(len, 1);
    memcpy(pending->data, data, len);
    pending->chunk = (struct log_chunk){
        .offset = offset, .raw = raw_bytes, .data = pending->data, .len = len};
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
