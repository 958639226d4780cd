#include "tuner/runners/last_seen.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"

struct sighting {
    char runner[HT_MAX_NAME + 1];
    int64_t wall_ms;
};

struct last_seen {
    pthread_mutex_t lock;
    size_t n;
    struct sighting *items;
};

struct last_seen *last_seen_new(void)
{
    struct last_seen *sightings = ht_xcalloc(1, sizeof *sightings);
    pthread_mutex_init(&sightings->lock, NULL);
    return sightings;
}

void last_seen_free(struct last_seen *sightings)
{
    if (sightings == NULL)
        return;
    pthread_mutex_destroy(&sightings->lock);
    free(sightings->items);
    free(sightings);
}

static struct sighting *find(const struct last_seen *sightings,
                             const char *runner)
{
    for (size_t i = 0; i < sightings->n; i++)
        if (strcmp(sightings->items[i].runner, runner) == 0)
            return &sightings->items[i];
    return NULL;
}

static struct sighting *add(struct last_seen *sightings, const char *runner)
{
    sightings->items = ht_xrealloc(sightings->items, sightings->n + 1,
                                   sizeof *sightings->items);
    struct sighting *made = &sightings->items[sightings->n++];
    snprintf(made->runner, sizeof made->runner, "%s", runner);
    return made;
}

void last_seen_note(struct last_seen *sightings, const char *runner,
                    int64_t wall_ms)
{
    pthread_mutex_lock(&sightings->lock);
    struct sighting *known = find(sightings, runner);
    if (known == NULL)
        known = add(sightings, runner);
    known->wall_ms = wall_ms;
    pthread_mutex_unlock(&sightings->lock);
}

int64_t last_seen_ms(struct last_seen *sightings, const char *runner)
{
    pthread_mutex_lock(&sightings->lock);
    const struct sighting *known = find(sightings, runner);
    const int64_t wall_ms = known == NULL ? 0 : known->wall_ms;
    pthread_mutex_unlock(&sightings->lock);
    return wall_ms;
}
