#include "tuner/wire/pipe_peers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "proto/base/arena.h"
#include "proto/net/address.h"
#include "tuner/base/budget.h"

enum {
    BUCKETS = 1024,
    KEPT = 1024 /* that ended: more than messages wait to be read */
};

struct known {
    struct known *next;       /* of its bucket */
    TAILQ_ENTRY(known) order; /* of those that are open, the oldest first */
    uint32_t pipe;
    uint64_t key; /* equal for what counts as one address */
    bool proved;
    bool leaving; /* it ended, or has to */
    char address[PRINCIPAL_PEER_BYTES];
    char certificate[PRINCIPAL_CERTIFICATE_BYTES];
};

struct pipe_peers {
    pthread_mutex_t lock; /* guards all */
    size_t most;
    TAILQ_HEAD(, known) open;
    struct known *buckets[BUCKETS];
    uint32_t ended[KEPT]; /* the newest ones, in a ring */
    size_t n_ended;
};

struct pipe_peers *pipe_peers_new(size_t most)
{
    struct pipe_peers *peers = ht_xcalloc(1, sizeof *peers);
    pthread_mutex_init(&peers->lock, NULL);
    peers->most = most;
    TAILQ_INIT(&peers->open);
    return peers;
}

/* The link of its entry, or the last one of its bucket. */
static struct known **link_of(struct pipe_peers *peers, uint32_t pipe)
{
    struct known **at = &peers->buckets[pipe % BUCKETS];
    while (*at != NULL && (*at)->pipe != pipe)
        at = &(*at)->next;
    return at;
}

static void drop(struct known **link)
{
    struct known *known = *link;
    if (known == NULL)
        return;
    *link = known->next;
    free(known);
}

void pipe_peers_free(struct pipe_peers *peers)
{
    if (peers == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (peers->buckets[i] != NULL)
            drop(&peers->buckets[i]);
    pthread_mutex_destroy(&peers->lock);
    free(peers);
}

/* The one that has to end for the newest; NULL: it fits. */
static struct known *find_excess(const struct pipe_peers *peers,
                                 struct known *newest)
{
    size_t n = 0, n_each = 0;
    struct known *oldest = NULL, *oldest_each = NULL;
    struct known *at;
    TAILQ_FOREACH(at, &peers->open, order)
    {
        const bool same = at->key == newest->key;
        n += !at->leaving;
        n_each += same && !at->leaving;
        if (at->proved || at->leaving)
            continue;
        oldest = oldest != NULL ? oldest : at;
        oldest_each = oldest_each != NULL || !same ? oldest_each : at;
    }
    if (n_each > (size_t)budget_of(BUDGET_PIPES))
        return oldest_each;
    return n > peers->most ? oldest : NULL;
}

uint32_t pipe_peers_begin(struct pipe_peers *peers, uint32_t pipe,
                          const char *address, const char *certificate)
{
    struct address read;
    struct known *made = ht_xcalloc(1, sizeof *made);
    made->pipe = pipe;
    made->key =
        address_read(address, 0, &read) ? address_key(&read.storage) : 0;
    (void)snprintf(made->address, sizeof made->address, "%s", address);
    (void)snprintf(made->certificate, sizeof made->certificate, "%s",
                   certificate);
    pthread_mutex_lock(&peers->lock);
    *link_of(peers, pipe) = made;
    TAILQ_INSERT_TAIL(&peers->open, made, order);
    struct known *excess = find_excess(peers, made);
    const uint32_t number = excess != NULL ? excess->pipe : 0;
    if (excess != NULL)
        excess->leaving = true;
    pthread_mutex_unlock(&peers->lock);
    if (number != 0)
        budget_exceeded(BUDGET_PIPES);
    return number;
}

void pipe_peers_prove(struct pipe_peers *peers, uint32_t pipe)
{
    pthread_mutex_lock(&peers->lock);
    struct known *known = *link_of(peers, pipe);
    if (known != NULL)
        known->proved = true;
    pthread_mutex_unlock(&peers->lock);
}

void pipe_peers_end(struct pipe_peers *peers, uint32_t pipe)
{
    pthread_mutex_lock(&peers->lock);
    struct known *known = *link_of(peers, pipe);
    if (known != NULL) {
        TAILQ_REMOVE(&peers->open, known, order);
        uint32_t *slot = &peers->ended[peers->n_ended++ % KEPT];
        if (peers->n_ended > KEPT)
            drop(link_of(peers, *slot));
        *slot = pipe;
    }
    pthread_mutex_unlock(&peers->lock);
}

bool pipe_peers_find(struct pipe_peers *peers, uint32_t pipe,
                     struct principal *from)
{
    pthread_mutex_lock(&peers->lock);
    const struct known *known = *link_of(peers, pipe);
    if (known != NULL) {
        memcpy(from->peer, known->address, sizeof from->peer);
        memcpy(from->certificate, known->certificate, sizeof from->certificate);
    }
    pthread_mutex_unlock(&peers->lock);
    return known != NULL;
}
