#include "tuner/base/changed_studies.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/arena.h"

struct changed_studies {
    pthread_mutex_t lock; /* guards the rest */
    size_t n, room;
    int64_t *studies; /* in any order, with repeats */
};

struct changed_studies *changed_studies_new(void)
{
    struct changed_studies *changed = ht_xcalloc(1, sizeof *changed);
    pthread_mutex_init(&changed->lock, NULL);
    return changed;
}

void changed_studies_free(struct changed_studies *changed)
{
    if (changed == NULL)
        return;
    pthread_mutex_destroy(&changed->lock);
    free(changed->studies);
    free(changed);
}

bool changed_studies_add(struct changed_studies *changed, int64_t study)
{
    memory_lock(&changed->lock);
    const bool first = changed->n == 0;
    if (changed->n == changed->room) {
        changed->room = 2 * changed->room + 8;
        changed->studies =
            ht_xrealloc(changed->studies, changed->room, sizeof study);
    }
    changed->studies[changed->n++] = study;
    memory_unlock(&changed->lock);
    return first;
}

static int compare(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

size_t changed_studies_take(struct changed_studies *changed, int64_t **studies)
{
    size_t n = 0;
    memory_lock(&changed->lock);
    const size_t noted = changed->n;
    int64_t *taken = changed->studies;
    changed->studies = NULL;
    changed->n = changed->room = 0;
    memory_unlock(&changed->lock);
    if (noted > 0)
        qsort(taken, noted, sizeof *taken, compare);
    for (size_t i = 0; i < noted; i++)
        if (n == 0 || taken[i] != taken[n - 1])
            taken[n++] = taken[i];
    *studies = taken;
    return n;
}
