#include "tuner/http/crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/base/arena.h"
#include "proto/base/log.h"

enum {
    BUCKETS = 4096,
    NOTED_MOST = 256 /* lines a minute, when many addresses flood */
};

struct crowds {
    struct crowd *buckets[BUCKETS];
    uint64_t seed;      /* so that no one can choose keys of one bucket */
    struct links noted; /* the one that was logged first is the first */
    size_t n_noted;
    int64_t unnamed; /* ended ones of crowds beyond NOTED_MOST */
    int64_t unnamed_ms;
};

struct crowds *crowds_new(void)
{
    struct crowds *crowds = ht_xcalloc(1, sizeof *crowds);
    links_init(&crowds->noted);
    if (getrandom(&crowds->seed, sizeof crowds->seed, GRND_NONBLOCK) < 0)
        crowds->seed = (uint64_t)(uintptr_t)crowds;
    return crowds;
}

void crowds_free(struct crowds *crowds)
{
    if (crowds == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (crowds->buckets[i] != NULL) {
            struct crowd *crowd = crowds->buckets[i];
            crowds->buckets[i] = crowd->next;
            free(crowd);
        }
    free(crowds);
}

static struct crowd **bucket_of(struct crowds *crowds, enum budget budget,
                                const char *key)
{
    uint64_t hash = crowds->seed ^ (uint64_t)budget;
    for (; *key != '\0'; key++) {
        hash = (hash ^ (unsigned char)*key) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return &crowds->buckets[hash % BUCKETS];
}

struct crowd *crowd_of(struct crowds *crowds, enum budget budget,
                       const char *key)
{
    char fits[CROWD_KEY_BYTES];
    snprintf(fits, sizeof fits, "%s", key);
    struct crowd **bucket = bucket_of(crowds, budget, fits);
    struct crowd *crowd = *bucket;
    while (crowd != NULL &&
           (crowd->budget != budget || strcmp(crowd->key, fits) != 0))
        crowd = crowd->next;
    if (crowd != NULL)
        return crowd;
    crowd = ht_xcalloc(1, sizeof *crowd);
    crowd->budget = budget;
    memcpy(crowd->key, fits, sizeof fits);
    links_init(&crowd->waiting);
    links_init(&crowd->working);
    links_init(&crowd->noted);
    crowd->next = *bucket;
    *bucket = crowd;
    return crowd;
}

static void free_unused(struct crowds *crowds, struct crowd *crowd)
{
    if (crowd->n > 0 || !links_empty(&crowd->noted))
        return;
    struct crowd **at = bucket_of(crowds, crowd->budget, crowd->key);
    while (*at != crowd)
        at = &(*at)->next;
    *at = crowd->next;
    free(crowd);
}

void crowd_leave(struct crowds *crowds, struct crowd *crowd)
{
    crowd->n--;
    free_unused(crowds, crowd);
}

static void log_one(const struct crowd *crowd)
{
    log_event(LOG_WARN, "http.connections", "%s=\"%s\" ended=%lld budget=%s",
              budget_table[crowd->budget].whose, crowd->key,
              (long long)crowd->ended, budget_table[crowd->budget].name);
}

void crowd_note(struct crowds *crowds, struct crowd *crowd, int64_t now_ms)
{
    budget_exceeded(crowd->budget);
    if (links_empty(&crowd->noted) && crowds->n_noted == NOTED_MOST) {
        crowds->unnamed++;
        return;
    }
    crowd->ended++;
    if (!links_empty(&crowd->noted))
        return;
    log_one(crowd);
    crowd->ended = 0;
    crowd->logged_ms = now_ms;
    links_append(&crowds->noted, &crowd->noted);
    crowds->n_noted++;
}

static void log_unnamed(struct crowds *crowds, int64_t now_ms)
{
    if (crowds->unnamed == 0 || now_ms - crowds->unnamed_ms < CROWD_LOG_MS)
        return;
    log_event(LOG_WARN, "http.connections", "others=1 ended=%lld",
              (long long)crowds->unnamed);
    crowds->unnamed = 0;
    crowds->unnamed_ms = now_ms;
}

bool crowds_tick(struct crowds *crowds, int64_t now_ms)
{
    struct links *next;
    for (struct links *at = crowds->noted.next; at != &crowds->noted;
         at = next) {
        struct crowd *crowd = LINKS_OF(at, struct crowd, noted);
        next = at->next;
        if (now_ms - crowd->logged_ms < CROWD_LOG_MS)
            break;
        links_remove(&crowd->noted);
        if (crowd->ended > 0) {
            log_one(crowd);
            crowd->ended = 0;
            crowd->logged_ms = now_ms;
            links_append(&crowds->noted, &crowd->noted);
            continue;
        }
        crowds->n_noted--;
        free_unused(crowds, crowd);
    }
    log_unnamed(crowds, now_ms);
    return !links_empty(&crowds->noted) || crowds->unnamed > 0;
}
