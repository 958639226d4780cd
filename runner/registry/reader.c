#include "runner/registry/reader.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/processor.h"
#include "runner/registry/registry.h"

enum { MOST_TRIES = 4, PAUSE_MS = 2000, REFUSED_MS = 60000 };

struct entry { /* one image; lives as long as the reader */
    struct entry *next;
    const char *name, *scope;
    enum registry_state state;
    struct arena *arena; /* of the image; NULL: it was not read */
    struct image image;
    char words[HT_MAX_REASON];
    int tries;
    int64_t at; /* monotonic: when it is tried, or was refused */
};

struct registry_reader {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    registry_find_login *find;
    void *context;
    struct arena *arena; /* of the entries and their names */
    struct entry *first;
};

/* ---- the thread ---- */

/* The one that waits longest; else *wait_ms until it is due. The lock is held.
 */
static struct entry *find_due(struct registry_reader *reader, int64_t *wait_ms)
{
    struct entry *due = NULL;
    const int64_t now = clock_monotonic_ms();
    for (struct entry *one = reader->first; one != NULL; one = one->next)
        if (one->state == REGISTRY_WAITS && (due == NULL || one->at < due->at))
            due = one;
    *wait_ms = due != NULL ? due->at - now : PAUSE_MS;
    return due != NULL && due->at <= now ? due : NULL;
}

/* The lock is held. */
static void settle(struct entry *entry, enum ht_status status,
                   const struct ht_error *err)
{
    entry->at = clock_monotonic_ms();
    if (status == HT_OK) {
        entry->state = REGISTRY_READ;
        return;
    }
    (void)snprintf(entry->words, sizeof entry->words, "%s", err->text);
    if (status == HT_UNAVAILABLE && ++entry->tries < MOST_TRIES)
        entry->at += (int64_t)PAUSE_MS * entry->tries;
    else
        entry->state = status == HT_UNAVAILABLE || status == HT_DENIED
                           ? REGISTRY_CLOSED
                           : REGISTRY_REFUSED;
}

static void read_one(struct registry_reader *reader, struct entry *entry)
{
    struct ht_error err = {.status = HT_OK};
    struct image image = {.id = NULL};
    struct registry_login login = {.user = NULL};
    struct arena *arena = arena_new(), *scratch = arena_new();
    enum ht_status status = reader->find(reader->context, scratch, entry->name,
                                         entry->scope, &login, &err);
    if (status == HT_OK)
        status =
            registry_read(arena, entry->name, PROCESSOR, &login, &image, &err);
    arena_free(scratch);
    if (status != HT_OK) {
        log_event(LOG_WARN, "image.not_read", "reason=\"%s\"", err.text);
        arena_free(arena);
        arena = NULL;
    }
    pthread_mutex_lock(&reader->lock);
    entry->arena = arena;
    entry->image = image;
    settle(entry, status, &err);
}

static void *work(void *context)
{
    struct registry_reader *reader = context;
    pthread_mutex_lock(&reader->lock);
    while (!reader->stopping) {
        int64_t wait_ms;
        struct entry *entry = find_due(reader, &wait_ms);
        if (entry == NULL) {
            const struct timespec until = clock_in_ms(wait_ms);
            pthread_cond_timedwait(&reader->changed, &reader->lock, &until);
            continue;
        }
        pthread_mutex_unlock(&reader->lock);
        read_one(reader, entry);
    }
    pthread_mutex_unlock(&reader->lock);
    return NULL;
}

/* ---- the supervising thread ---- */

static void free_reader(struct registry_reader *reader)
{
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->lock);
    for (struct entry *one = reader->first; one != NULL; one = one->next)
        arena_free(one->arena);
    arena_free(reader->arena);
    free(reader);
}

enum ht_status registry_reader_start(registry_find_login *find, void *context,
                                     struct registry_reader **reader,
                                     struct ht_error *err)
{
    struct registry_reader *made = ht_xcalloc(1, sizeof *made);
    made->find = find;
    made->context = context;
    made->arena = arena_new();
    pthread_mutex_init(&made->lock, NULL);
    clock_cond_init(&made->changed);
    const int code = pthread_create(&made->thread, NULL, work, made);
    if (code != 0) {
        free_reader(made);
        return ht_fail_errno(err, code, "cannot start a thread");
    }
    *reader = made;
    return HT_OK;
}

void registry_reader_stop(struct registry_reader *reader)
{
    if (reader == NULL)
        return;
    pthread_mutex_lock(&reader->lock);
    reader->stopping = true;
    pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    pthread_join(reader->thread, NULL);
    free_reader(reader);
}

/* The lock is held. */
static struct entry *entry_of(struct registry_reader *reader, const char *name,
                              const char *scope)
{
    struct entry *entry = reader->first;
    while (entry != NULL &&
           (strcmp(entry->name, name) != 0 || strcmp(entry->scope, scope) != 0))
        entry = entry->next;
    if (entry == NULL) {
        entry = arena_alloc(reader->arena, 1, sizeof *entry);
        *entry = (struct entry){.next = reader->first,
                                .name = arena_strdup(reader->arena, name),
                                .scope = arena_strdup(reader->arena, scope)};
        reader->first = entry;
        pthread_cond_signal(&reader->changed);
    }
    return entry;
}

enum registry_state registry_reader_look(struct registry_reader *reader,
                                         const char *name, const char *scope,
                                         struct image *image,
                                         char words[HT_MAX_REASON])
{
    pthread_mutex_lock(&reader->lock);
    struct entry *entry = entry_of(reader, name, scope);
    if ((entry->state == REGISTRY_REFUSED || entry->state == REGISTRY_CLOSED) &&
        clock_monotonic_ms() - entry->at > REFUSED_MS) {
        entry->state = REGISTRY_WAITS;
        entry->tries = 0;
        pthread_cond_signal(&reader->changed);
    }
    const enum registry_state state = entry->state;
    *image = entry->image;
    memcpy(words, entry->words, HT_MAX_REASON);
    pthread_mutex_unlock(&reader->lock);
    return state;
}
