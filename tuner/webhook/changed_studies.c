#include "tuner/webhook/changed_studies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"

struct webhook_news {
    pthread_mutex_t lock; /* guards the rest */
    size_t n, room;
    int64_t *studies; /* ascending */
};

struct webhook_news *webhook_news_new(void)
{
    struct webhook_news *news = ht_xcalloc(1, sizeof *news);
    pthread_mutex_init(&news->lock, NULL);
    return news;
}

void webhook_news_free(struct webhook_news *news)
{
    if (news == NULL)
        return;
    pthread_mutex_destroy(&news->lock);
    free(news->studies);
    free(news);
}

/* Where the study is, or would be. */
static size_t place_of(const struct webhook_news *news, int64_t study)
{
    size_t low = 0, high = news->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (news->studies[middle] < study)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct webhook_news *news, size_t at, int64_t study)
{
    if (news->n == news->room) {
        news->room = 2 * news->room + 8;
        news->studies =
            ht_xrealloc(news->studies, news->room, sizeof *news->studies);
    }
    memmove(news->studies + at + 1, news->studies + at,
            (news->n - at) * sizeof *news->studies);
    news->studies[at] = study;
    news->n++;
}

bool webhook_news_add(struct webhook_news *news, int64_t study)
{
    pthread_mutex_lock(&news->lock);
    const bool first = news->n == 0;
    const size_t at = place_of(news, study);
    if (at == news->n || news->studies[at] != study)
        insert(news, at, study);
    pthread_mutex_unlock(&news->lock);
    return first;
}

size_t webhook_news_take(struct webhook_news *news, int64_t **studies)
{
    pthread_mutex_lock(&news->lock);
    const size_t n = news->n;
    *studies = news->studies;
    news->studies = NULL;
    news->n = news->room = 0;
    pthread_mutex_unlock(&news->lock);
    return n;
}
