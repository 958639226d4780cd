#include "runner/container/leftovers.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/container/container.h"
#include "runner/container/network.h"

enum {
    USUAL_MS = 30000,
    SOON_MS = 1500,       /* after an attempt was given up ... */
    SOON_SPAN_MS = 10000, /* ... during that time */
};

struct leftovers {
    const struct site *site;
    leftovers_keep *keeps;
    struct docker *docker;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool ending;
    bool due;           /* sweep at once */
    int64_t soon_until; /* monotonic */
    struct order_key *given_up;
    size_t n_given_up;
    struct arena *arena; /* of given_up */
};

/* ---- one sweep ---- */

static bool is_given_up(struct leftovers *leftovers,
                        const struct order_key *key)
{
    bool found = false;
    pthread_mutex_lock(&leftovers->lock);
    for (size_t i = 0; i < leftovers->n_given_up && !found; i++)
        found = order_key_equal(&leftovers->given_up[i], key);
    pthread_mutex_unlock(&leftovers->lock);
    return found;
}

static bool is_kept(struct leftovers *leftovers, const struct node *item)
{
    struct order_key key;
    return network_read_attempt(node_find(item, "Labels"), &key) &&
           !is_given_up(leftovers, &key) && leftovers->keeps(&key);
}

typedef enum ht_status remover(struct docker *docker, const char *name,
                               struct ht_error *err);

static void sweep_kind(struct leftovers *leftovers, const char *path,
                       remover *remove_one)
{
    struct arena *arena = arena_new();
    const char *filtered = arena_printf(arena, "%s%s", path,
                                        network_filter(arena, leftovers->site));
    const struct node *list;
    struct ht_error err;
    if (docker_get(leftovers->docker, arena, filtered, &list, &err) != HT_OK)
        list = NULL;
    NODE_EACH (item, node_items(list)) {
        const char *id = node_get_string(item, "Id", NULL);
        if (id == NULL || is_kept(leftovers, item))
            continue;
        if (remove_one(leftovers->docker, id, &err) != HT_OK)
            log_event(LOG_WARN, "janitor.failed", "id=%.12s reason=\"%s\"", id,
                      err.text);
        else
            log_event(LOG_INFO, "janitor.removed", "id=%.12s", id);
    }
    arena_free(arena);
}

static void leftovers_sweep(struct leftovers *leftovers)
{
    sweep_kind(leftovers, "/containers/json?all=1&", container_remove);
    sweep_kind(leftovers, "/networks?", network_remove);
}

/* ---- the thread ---- */

static void wait_ms(struct leftovers *leftovers, int64_t ms)
{
    const struct timespec until = clock_in_ms(ms);
    while (!leftovers->ending && !leftovers->due &&
           pthread_cond_timedwait(&leftovers->changed, &leftovers->lock,
                                  &until) == 0)
        continue;
}

static void *run_thread(void *context)
{
    struct leftovers *leftovers = context;
    pthread_mutex_lock(&leftovers->lock);
    while (!leftovers->ending) {
        leftovers->due = false;
        pthread_mutex_unlock(&leftovers->lock);
        leftovers_sweep(leftovers);
        pthread_mutex_lock(&leftovers->lock);
        wait_ms(leftovers, clock_monotonic_ms() < leftovers->soon_until
                               ? SOON_MS
                               : USUAL_MS);
    }
    pthread_mutex_unlock(&leftovers->lock);
    return NULL;
}

static void free_all(struct leftovers *leftovers)
{
    docker_free(leftovers->docker);
    pthread_cond_destroy(&leftovers->changed);
    pthread_mutex_destroy(&leftovers->lock);
    arena_free(leftovers->arena);
    free(leftovers);
}

enum ht_status leftovers_start(const struct docker_address *address,
                               const struct site *site, leftovers_keep *keeps,
                               struct leftovers **leftovers,
                               struct ht_error *err)
{
    struct leftovers *made = ht_xcalloc(1, sizeof *made);
    *made =
        (struct leftovers){.site = site,
                           .keeps = keeps,
                           .docker = docker_new(address),
                           .arena = arena_new(),
                           /* Calls from before a restart may still make
                            * something. */
                           .soon_until = clock_monotonic_ms() + SOON_SPAN_MS};
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    const int code = pthread_create(&made->thread, NULL, run_thread, made);
    if (code != 0) {
        free_all(made);
        return ht_fail_errno(err, code, "no thread for leftovers");
    }
    *leftovers = made;
    return HT_OK;
}

void leftovers_stop(struct leftovers *leftovers)
{
    if (leftovers == NULL)
        return;
    pthread_mutex_lock(&leftovers->lock);
    leftovers->ending = true;
    pthread_cond_signal(&leftovers->changed);
    pthread_mutex_unlock(&leftovers->lock);
    docker_cancel(leftovers->docker);
    pthread_join(leftovers->thread, NULL);
    free_all(leftovers);
}

void leftovers_give_up(struct leftovers *leftovers, const struct order_key *key)
{
    pthread_mutex_lock(&leftovers->lock);
    leftovers->given_up =
        arena_grow(leftovers->arena, leftovers->given_up, leftovers->n_given_up,
                   sizeof *leftovers->given_up);
    leftovers->given_up[leftovers->n_given_up++] = *key;
    leftovers->due = true;
    leftovers->soon_until = clock_monotonic_ms() + SOON_SPAN_MS;
    pthread_cond_signal(&leftovers->changed);
    pthread_mutex_unlock(&leftovers->lock);
}

void leftovers_wake(struct leftovers *leftovers)
{
    pthread_mutex_lock(&leftovers->lock);
    leftovers->due = true;
    pthread_cond_signal(&leftovers->changed);
    pthread_mutex_unlock(&leftovers->lock);
}
