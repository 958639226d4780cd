#include "runner/transfer/transfers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "runner/transfer/move_tree.h"

enum {
    FIRST_PAUSE_MS = 500, /* before another try */
    LAST_PAUSE_MS = 30000,
    NICE = 10, /* training and reports come first */
    STUCK_TRIES = 2,
    MOST_CHANGED = 5 /* tries of what changes while it is read */
};

enum fetch_state { FETCH_NONE, FETCH_WAITING, FETCH_WORKING, FETCH_ENDED };

struct entry { /* of one attempt */
    struct entry *next;
    struct order_key key;
    char *project, *checkpoints, *scratch;
    atomic_bool given_up; /* its transfers end soon, and then it is freed */

    bool waiting, sending, final;
    char *path; /* while waiting */
    int64_t step;
    int tries, idle_tries; /* failed ones; in a row without a byte */
    int64_t send_at;       /* monotonic; not before */
    bool sent;             /* `result` is not confirmed */
    struct transfers_sent result;

    enum fetch_state fetch;
    char *tree;
    int fetch_tries;
    int64_t fetch_at; /* monotonic; not before */
    enum ht_status fetched;
    struct ht_error why; /* unless HT_OK */
};

struct transfers {
    struct transfers_settings settings;
    pthread_t sender, fetcher;
    bool has_sender, has_fetcher;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;  /* by the monotonic clock */
    struct entry *first;
    atomic_bool ending;
};

static void free_entry(struct entry *entry)
{
    free(entry->project);
    free(entry->checkpoints);
    free(entry->scratch);
    free(entry->path);
    free(entry->tree);
    free(entry);
}

static int64_t pause_ms(int tries)
{
    int64_t ms = FIRST_PAUSE_MS;
    for (int i = 1; i < tries && ms < LAST_PAUSE_MS; i++)
        ms *= 2;
    return ms < LAST_PAUSE_MS ? ms : LAST_PAUSE_MS;
}

/* --- both threads; the lock is held --- */

/* Until `at`, monotonic, or until something has changed. */
static void wait_until(struct transfers *transfers, int64_t at)
{
    if (at == INT64_MAX) {
        pthread_cond_wait(&transfers->wake, &transfers->lock);
        return;
    }
    const struct timespec until = {.tv_sec = (time_t)(at / 1000),
                                   .tv_nsec = (long)(at % 1000 * 1000000)};
    pthread_cond_timedwait(&transfers->wake, &transfers->lock, &until);
}

/* The link of the entry that is due first, those of `final` before others; its
 * value is NULL when none is due before *at. */
static struct entry *next_entry(const struct transfers *transfers, bool fetches,
                                int64_t *at)
{
    const int64_t now = clock_monotonic_ms();
    struct entry *found = NULL;
    *at = INT64_MAX;
    for (struct entry *entry = transfers->first; entry; entry = entry->next) {
        const bool waits =
            fetches ? entry->fetch == FETCH_WAITING : entry->waiting;
        const int64_t due = fetches ? entry->fetch_at : entry->send_at;
        if (!waits)
            continue;
        *at = due < *at ? due : *at;
        if (due <= now && (found == NULL || (entry->final && !found->final)))
            found = entry;
    }
    return found;
}

/* Frees it when it was given up and neither thread works for it. */
static void release(struct transfers *transfers, struct entry *entry)
{
    if (!atomic_load(&entry->given_up) || entry->sending ||
        entry->fetch == FETCH_WORKING)
        return;
    struct entry **link = &transfers->first;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    free_entry(entry);
}

/* --- sending --- */

static bool is_passing(enum ht_status status)
{
    return status == HT_UNAVAILABLE || status == HT_UNAUTHENTICATED ||
           status == HT_DENIED || status == HT_CONFLICT || status == HT_IO;
}

/* What was not sent waits again, unless a newer one does. */
static void note_unsent(struct entry *entry, char *path, int64_t step,
                        const struct ht_error *err)
{
    const bool again = !entry->waiting && is_passing(err->status) &&
                       (err->status == HT_UNAVAILABLE ||
                        ++entry->tries < MOST_CHANGED || entry->final);
    if (err->status != HT_NOT_FOUND && !atomic_load(&entry->given_up))
        log_event(again ? LOG_INFO : LOG_WARN, "checkpoint.unsent",
                  "study=%lld trial=%lld attempt=%lld again=%d reason=\"%s\"",
                  (long long)entry->key.study, (long long)entry->key.trial,
                  (long long)entry->key.attempt, again, err->text);
    if (!again) {
        free(path);
        return;
    }
    entry->waiting = true;
    entry->path = path;
    entry->step = step;
    entry->send_at = clock_monotonic_ms() + pause_ms(entry->tries);
}

static struct move_tree describe(struct transfers *transfers,
                                 struct entry *entry)
{
    return (struct move_tree){.settings = &transfers->settings,
                              .given_up = &entry->given_up,
                              .project = entry->project,
                              .checkpoints = entry->checkpoints,
                              .scratch = entry->scratch};
}

static void send_one(struct transfers *transfers, struct entry *entry)
{
    char *path = entry->path;
    const int64_t step = entry->step;
    struct transfers_sent result = {.step = step};
    struct ht_error err;
    const struct move_tree move = describe(transfers, entry);
    entry->path = NULL;
    entry->waiting = false;
    entry->sending = true;
    pthread_mutex_unlock(&transfers->lock);
    int64_t bytes;
    const enum ht_status status =
        move_tree_send(&move, path, result.tree, &bytes, &err);
    pthread_mutex_lock(&transfers->lock);
    entry->sending = false;
    entry->idle_tries =
        status == HT_OK || bytes > 0 ? 0 : entry->idle_tries + 1;
    if (status != HT_OK) {
        note_unsent(entry, path, step, &err);
        return;
    }
    free(path);
    entry->tries = 0;
    entry->sent = true;
    entry->result = result;
}

/* --- fetching --- */

static void fetch_one(struct transfers *transfers, struct entry *entry)
{
    const struct move_tree move = describe(transfers, entry);
    entry->fetch = FETCH_WORKING;
    pthread_mutex_unlock(&transfers->lock);
    struct ht_error err;
    const enum ht_status status = move_tree_fetch(&move, entry->tree, &err);
    pthread_mutex_lock(&transfers->lock);
    if (status == HT_UNAVAILABLE) {
        entry->fetch = FETCH_WAITING;
        entry->fetch_at = clock_monotonic_ms() + pause_ms(++entry->fetch_tries);
        return;
    }
    entry->fetch = FETCH_ENDED;
    entry->fetched = status;
    if (status != HT_OK)
        entry->why = err;
}

/* --- the threads --- */

static void work(struct transfers *transfers, bool fetches)
{
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    pthread_mutex_lock(&transfers->lock);
    while (!atomic_load(&transfers->ending)) {
        int64_t at;
        struct entry *entry = next_entry(transfers, fetches, &at);
        if (entry == NULL) {
            wait_until(transfers, at);
            continue;
        }
        if (fetches)
            fetch_one(transfers, entry);
        else
            send_one(transfers, entry);
        release(transfers, entry);
        (void)eventfd_write(transfers->settings.wake, 1);
    }
    pthread_mutex_unlock(&transfers->lock);
}

static void *work_sender(void *context)
{
    work(context, false);
    return NULL;
}

static void *work_fetcher(void *context)
{
    work(context, true);
    return NULL;
}

enum ht_status transfers_start(const struct transfers_settings *settings,
                               struct transfers **transfers,
                               struct ht_error *err)
{
    struct transfers *made = ht_xcalloc(1, sizeof *made);
    made->settings = *settings;
    pthread_mutex_init(&made->lock, NULL);
    clock_cond_init(&made->wake);
    int failed = pthread_create(&made->sender, NULL, work_sender, made);
    made->has_sender = failed == 0;
    if (failed == 0)
        failed = pthread_create(&made->fetcher, NULL, work_fetcher, made);
    made->has_fetcher = failed == 0;
    if (failed != 0) {
        transfers_stop(made);
        return ht_fail_errno(err, failed, "no thread for checkpoints");
    }
    *transfers = made;
    return HT_OK;
}

void transfers_stop(struct transfers *transfers)
{
    if (transfers == NULL)
        return;
    pthread_mutex_lock(&transfers->lock);
    atomic_store(&transfers->ending, true);
    for (struct entry *entry = transfers->first; entry; entry = entry->next)
        atomic_store(&entry->given_up, true);
    pthread_cond_broadcast(&transfers->wake);
    pthread_mutex_unlock(&transfers->lock);
    if (transfers->has_sender)
        pthread_join(transfers->sender, NULL);
    if (transfers->has_fetcher)
        pthread_join(transfers->fetcher, NULL);
    while (transfers->first != NULL) {
        struct entry *next = transfers->first->next;
        free_entry(transfers->first);
        transfers->first = next;
    }
    pthread_cond_destroy(&transfers->wake);
    pthread_mutex_destroy(&transfers->lock);
    free(transfers);
}

/* --- from the supervising thread; the lock is held --- */

static struct entry *find(const struct transfers *transfers,
                          const struct order_key *key)
{
    struct entry *entry = transfers->first;
    while (entry != NULL && (!order_key_equal(&entry->key, key) ||
                             atomic_load(&entry->given_up)))
        entry = entry->next;
    return entry;
}

static struct entry *get(struct transfers *transfers,
                         const struct transfers_place *place)
{
    struct entry *entry = find(transfers, &place->key);
    if (entry != NULL)
        return entry;
    entry = ht_xcalloc(1, sizeof *entry);
    entry->key = place->key;
    entry->project = ht_xstrdup(place->project);
    entry->checkpoints = ht_xstrdup(place->checkpoints);
    entry->scratch = ht_xstrdup(place->scratch);
    struct entry **last = &transfers->first;
    while (*last != NULL)
        last = &(*last)->next;
    *last = entry;
    return entry;
}

/* --- ... and the functions that take it --- */

void transfers_send(struct transfers *transfers,
                    const struct transfers_place *place, const char *path,
                    int64_t step, bool final)
{
    pthread_mutex_lock(&transfers->lock);
    struct entry *entry = get(transfers, place);
    free(entry->path);
    entry->path = ht_xstrdup(path);
    entry->step = step;
    if (final)
        entry->tries = entry->idle_tries = 0;
    if (entry->tries == 0) /* else what keeps others keeps it, too */
        entry->send_at = 0;
    entry->final = final;
    entry->waiting = true;
    pthread_cond_broadcast(&transfers->wake);
    pthread_mutex_unlock(&transfers->lock);
}

bool transfers_has_sent(struct transfers *transfers,
                        const struct order_key *key,
                        struct transfers_sent *sent)
{
    pthread_mutex_lock(&transfers->lock);
    const struct entry *entry = find(transfers, key);
    const bool has = entry != NULL && entry->sent;
    if (has)
        *sent = entry->result;
    pthread_mutex_unlock(&transfers->lock);
    return has;
}

void transfers_confirm(struct transfers *transfers, const struct order_key *key,
                       const struct transfers_sent *sent)
{
    pthread_mutex_lock(&transfers->lock);
    struct entry *entry = find(transfers, key);
    /* The next one may be the same tree, named for a later step. */
    if (entry != NULL && entry->sent && entry->result.step == sent->step &&
        strcmp(entry->result.tree, sent->tree) == 0)
        entry->sent = false;
    pthread_mutex_unlock(&transfers->lock);
}

enum transfers_work transfers_look(struct transfers *transfers,
                                   const struct order_key *key)
{
    pthread_mutex_lock(&transfers->lock);
    const struct entry *entry = find(transfers, key);
    enum transfers_work work = TRANSFERS_IDLE;
    if (entry != NULL && (entry->waiting || entry->sending || entry->sent))
        work =
            entry->idle_tries >= STUCK_TRIES ? TRANSFERS_STUCK : TRANSFERS_BUSY;
    pthread_mutex_unlock(&transfers->lock);
    return work;
}

enum transfers_state transfers_fetch(struct transfers *transfers,
                                     const struct transfers_place *place,
                                     const char *tree, struct ht_error *err)
{
    enum transfers_state state = TRANSFERS_WORKING;
    pthread_mutex_lock(&transfers->lock);
    struct entry *entry = get(transfers, place);
    if (entry->fetch == FETCH_NONE) {
        entry->tree = ht_xstrdup(tree);
        entry->fetch = FETCH_WAITING;
        pthread_cond_broadcast(&transfers->wake);
    } else if (entry->fetch == FETCH_ENDED) {
        state = entry->fetched == HT_OK ? TRANSFERS_DONE : TRANSFERS_FAILED;
        if (state == TRANSFERS_FAILED)
            *err = entry->why;
    }
    pthread_mutex_unlock(&transfers->lock);
    return state;
}

void transfers_forget(struct transfers *transfers, const struct order_key *key)
{
    pthread_mutex_lock(&transfers->lock);
    struct entry *entry = find(transfers, key);
    if (entry != NULL) {
        atomic_store(&entry->given_up, true);
        entry->waiting = false;
        if (entry->fetch == FETCH_WAITING)
            entry->fetch = FETCH_NONE;
        release(transfers, entry);
    }
    pthread_mutex_unlock(&transfers->lock);
}
