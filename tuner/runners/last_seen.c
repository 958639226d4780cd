#include "tuner/runners/last_seen.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"

struct runner_seen {
    char runner[HT_MAX_NAME + 1];
    int64_t wall_ms;
    char *elements; /* NULL: none are known */
};

struct last_seen {
    pthread_mutex_t lock;
    size_t n;
    struct runner_seen *items;
};

struct last_seen *last_seen_new(void)
{
    struct last_seen *last_seen = ht_xcalloc(1, sizeof *last_seen);
    pthread_mutex_init(&last_seen->lock, NULL);
    return last_seen;
}

void last_seen_free(struct last_seen *last_seen)
{
    if (last_seen == NULL)
        return;
    for (size_t i = 0; i < last_seen->n; i++)
        free(last_seen->items[i].elements);
    pthread_mutex_destroy(&last_seen->lock);
    free(last_seen->items);
    free(last_seen);
}

static struct runner_seen *find(const struct last_seen *last_seen,
                                const char *runner)
{
    for (size_t i = 0; i < last_seen->n; i++)
        if (strcmp(last_seen->items[i].runner, runner) == 0)
            return &last_seen->items[i];
    return NULL;
}

static struct runner_seen *add(struct last_seen *last_seen, const char *runner)
{
    last_seen->items = ht_xrealloc(last_seen->items, last_seen->n + 1,
                                   sizeof *last_seen->items);
    struct runner_seen *made = &last_seen->items[last_seen->n++];
    *made = (struct runner_seen){.wall_ms = 0};
    snprintf(made->runner, sizeof made->runner, "%s", runner);
    return made;
}

static struct runner_seen *get(struct last_seen *last_seen, const char *runner)
{
    struct runner_seen *known = find(last_seen, runner);
    return known != NULL ? known : add(last_seen, runner);
}

void last_seen_note(struct last_seen *last_seen, const char *runner,
                    int64_t wall_ms)
{
    memory_lock(&last_seen->lock);
    get(last_seen, runner)->wall_ms = wall_ms;
    memory_unlock(&last_seen->lock);
}

void last_seen_note_elements(struct last_seen *last_seen, const char *runner,
                             const char *json)
{
    const size_t size = strlen(json) + 1;
    char *copy = memcpy(ht_xcalloc(size, 1), json, size);
    memory_lock(&last_seen->lock);
    struct runner_seen *known = get(last_seen, runner);
    free(known->elements);
    known->elements = copy;
    memory_unlock(&last_seen->lock);
}

const char *last_seen_elements(struct last_seen *last_seen, struct arena *arena,
                               const char *runner)
{
    memory_lock(&last_seen->lock);
    const struct runner_seen *known = find(last_seen, runner);
    const char *elements = known != NULL && known->elements != NULL
                               ? arena_strdup(arena, known->elements)
                               : NULL;
    memory_unlock(&last_seen->lock);
    return elements;
}

int64_t last_seen_ms(struct last_seen *last_seen, const char *runner)
{
    memory_lock(&last_seen->lock);
    const struct runner_seen *known = find(last_seen, runner);
    const int64_t wall_ms = known == NULL ? 0 : known->wall_ms;
    memory_unlock(&last_seen->lock);
    return wall_ms;
}
