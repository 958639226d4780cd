#include "runner/transfer/output_sends.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "proto/base/log.h"
#include "runner/transfer/move_tree.h"

enum {
    NICE = 19, /* checkpoints have less */
    LANES = 1, /* the same */
    FIRST_PAUSE_MS = 500,
    MOST_CHANGED = 5 /* tries of what changes while it is read */
};

enum state { WAITING, SENDING, ENDED, REPORTED };

struct entry {
    struct entry *next;
    struct arena *arena; /* holds the request */
    struct output_send request;
    enum state state;
    atomic_bool given_up; /* it is freed soon */
    int tries;
    int64_t due; /* monotonic; not before */
    struct output_sent sent;
};

struct output_sends {
    struct transfers_settings settings;
    char *scratch;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;  /* by the monotonic clock */
    struct entry *first;
    bool ending;
};

static void free_entry(struct entry *entry)
{
    arena_free(entry->arena);
    free(entry);
}

/* --- the thread; the lock is held --- */

/* *at: when the first one is due. */
static struct entry *next_entry(const struct output_sends *sends, int64_t *at)
{
    const int64_t now = clock_monotonic_ms();
    *at = INT64_MAX;
    for (struct entry *entry = sends->first; entry; entry = entry->next) {
        if (entry->state != WAITING)
            continue;
        if (entry->due <= now)
            return entry;
        *at = entry->due < *at ? entry->due : *at;
    }
    return NULL;
}

static void wait_until(struct output_sends *sends, int64_t at)
{
    if (at == INT64_MAX) {
        pthread_cond_wait(&sends->wake, &sends->lock);
        return;
    }
    const struct timespec until = {.tv_sec = (time_t)(at / 1000),
                                   .tv_nsec = (long)(at % 1000 * 1000000)};
    pthread_cond_timedwait(&sends->wake, &sends->lock, &until);
}

static void drop(struct output_sends *sends, struct entry *entry)
{
    struct entry **link = &sends->first;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    free_entry(entry);
}

struct moving { /* what the thread sends */
    struct output_sends *sends;
    struct entry *entry;
};

/* Without the lock. */
static void note_moved(void *context, int64_t bytes, int64_t of)
{
    const struct moving *moving = context;
    pthread_mutex_lock(&moving->sends->lock);
    moving->entry->sent.bytes = bytes;
    moving->entry->sent.of = of;
    pthread_mutex_unlock(&moving->sends->lock);
}

/* A file may change: then it is tried again, but a trainer that never stops
 * writing has its file named to who fetches. */
static void note_end(struct entry *entry, enum ht_status status,
                     const struct ht_error *err)
{
    struct output_sent *sent = &entry->sent;
    if (status == HT_CONFLICT && ++entry->tries < MOST_CHANGED) {
        entry->state = WAITING;
        entry->due =
            clock_monotonic_ms() + ((int64_t)FIRST_PAUSE_MS << entry->tries);
        return;
    }
    entry->state = ENDED;
    sent->ended = true;
    sent->err = status == HT_OK ? (struct ht_error){.status = HT_OK} : *err;
    log_event(status == HT_OK ? LOG_INFO : LOG_WARN,
              status == HT_OK ? "outputs.sent" : "outputs.unsent",
              "folder=%s %s=\"%s\"", entry->request.folder,
              status == HT_OK ? "tree" : "reason",
              status == HT_OK ? sent->tree : err->text);
}

static void send_one(struct output_sends *sends, struct entry *entry)
{
    struct ht_error err;
    char tree[TREE_NAME];
    struct moving moving = {sends, entry};
    const struct output_send *request = &entry->request;
    const struct move_tree move = {
        .settings = &sends->settings,
        .given_up = &entry->given_up,
        .project = request->project,
        .checkpoints = request->folder,
        .scratch = arena_printf(entry->arena, "%s/%lld", sends->scratch,
                                (long long)request->id),
        .lanes = LANES,
        .moved = note_moved,
        .context = &moving};
    entry->state = SENDING;
    pthread_mutex_unlock(&sends->lock);
    const enum ht_status status =
        move_tree_send_folders(&move, &request->names, tree, &err);
    pthread_mutex_lock(&sends->lock);
    if (status == HT_OK)
        memcpy(entry->sent.tree, tree, sizeof tree);
    if (atomic_load(&entry->given_up))
        drop(sends, entry);
    else
        note_end(entry, status, &err);
}

static void *work(void *context)
{
    struct output_sends *sends = context;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    pthread_mutex_lock(&sends->lock);
    while (!sends->ending) {
        int64_t at;
        struct entry *entry = next_entry(sends, &at);
        if (entry == NULL) {
            wait_until(sends, at);
            continue;
        }
        send_one(sends, entry);
        (void)eventfd_write(sends->settings.wake, 1);
    }
    pthread_mutex_unlock(&sends->lock);
    return NULL;
}

/* --- start and stop --- */

enum ht_status output_sends_start(const struct transfers_settings *settings,
                                  const char *scratch,
                                  struct output_sends **sends,
                                  struct ht_error *err)
{
    struct output_sends *made = ht_xcalloc(1, sizeof *made);
    made->settings = *settings;
    made->scratch = ht_xstrdup(scratch);
    pthread_mutex_init(&made->lock, NULL);
    clock_cond_init(&made->wake);
    file_tree_remove(scratch, NULL, NULL);
    int failed = mkdir(scratch, 0700) == 0 ? 0 : errno;
    if (failed == 0)
        failed = pthread_create(&made->thread, NULL, work, made);
    made->has_thread = failed == 0;
    if (failed != 0) {
        output_sends_stop(made);
        return ht_fail_errno(err, failed, "no thread to send outputs");
    }
    *sends = made;
    return HT_OK;
}

void output_sends_stop(struct output_sends *sends)
{
    if (sends == NULL)
        return;
    pthread_mutex_lock(&sends->lock);
    sends->ending = true;
    for (struct entry *entry = sends->first; entry; entry = entry->next)
        atomic_store(&entry->given_up, true);
    pthread_cond_broadcast(&sends->wake);
    pthread_mutex_unlock(&sends->lock);
    if (sends->has_thread)
        pthread_join(sends->thread, NULL);
    while (sends->first != NULL) {
        struct entry *next = sends->first->next;
        free_entry(sends->first);
        sends->first = next;
    }
    pthread_cond_destroy(&sends->wake);
    pthread_mutex_destroy(&sends->lock);
    free(sends->scratch);
    free(sends);
}

/* --- from the supervising thread --- */

static struct entry *make_entry(const struct output_send *request)
{
    struct entry *entry = ht_xcalloc(1, sizeof *entry);
    struct arena *arena = arena_new();
    const size_t n = request->names.n;
    const char **names = arena_alloc(arena, n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = arena_strdup(arena, request->names.items[i]);
    entry->arena = arena;
    entry->request =
        (struct output_send){.id = request->id,
                             .project = arena_strdup(arena, request->project),
                             .folder = arena_strdup(arena, request->folder),
                             .names = {.n = n, .items = names}};
    entry->sent.id = request->id;
    return entry;
}

void output_sends_want(struct output_sends *sends,
                       const struct output_send *request)
{
    pthread_mutex_lock(&sends->lock);
    struct entry **link = &sends->first;
    while (*link != NULL && (*link)->request.id != request->id)
        link = &(*link)->next;
    if (*link == NULL) {
        *link = make_entry(request);
        pthread_cond_broadcast(&sends->wake);
    }
    pthread_mutex_unlock(&sends->lock);
}

static bool has_id(const int64_t ids[], size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* One that is being sent is the thread's to free. */
void output_sends_keep(struct output_sends *sends, const int64_t ids[],
                       size_t n)
{
    pthread_mutex_lock(&sends->lock);
    struct entry *entry = sends->first;
    while (entry != NULL) {
        struct entry *next = entry->next;
        const bool kept = has_id(ids, n, entry->request.id);
        if (!kept && entry->state == SENDING)
            atomic_store(&entry->given_up, true);
        else if (!kept)
            drop(sends, entry);
        entry = next;
    }
    pthread_mutex_unlock(&sends->lock);
}

size_t output_sends_report(struct output_sends *sends,
                           struct output_sent items[], size_t most)
{
    size_t n = 0;
    pthread_mutex_lock(&sends->lock);
    struct entry *entry = sends->first;
    for (; entry != NULL && n < most; entry = entry->next) {
        if (atomic_load(&entry->given_up))
            continue;
        if (entry->state == ENDED)
            entry->state = REPORTED;
        items[n++] = entry->sent;
    }
    pthread_mutex_unlock(&sends->lock);
    return n;
}

void output_sends_confirm(struct output_sends *sends)
{
    pthread_mutex_lock(&sends->lock);
    struct entry *entry = sends->first;
    while (entry != NULL) {
        struct entry *next = entry->next;
        if (entry->state == REPORTED)
            drop(sends, entry);
        entry = next;
    }
    pthread_mutex_unlock(&sends->lock);
}

enum output_sends_news output_sends_look(struct output_sends *sends)
{
    enum output_sends_news news = OUTPUT_SENDS_QUIET;
    pthread_mutex_lock(&sends->lock);
    for (const struct entry *entry = sends->first; entry; entry = entry->next)
        if (entry->state == ENDED)
            news = OUTPUT_SENDS_ENDED;
        else if (news == OUTPUT_SENDS_QUIET)
            news = OUTPUT_SENDS_BUSY;
    pthread_mutex_unlock(&sends->lock);
    return news;
}
