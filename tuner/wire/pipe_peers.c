#include "tuner/wire/pipe_peers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/arena.h"

enum {
    BUCKETS = 1024,
    KEPT = 1024 /* that ended: more than messages wait to be read */
};

struct known {
    struct known *next;
    uint32_t pipe;
    char address[PRINCIPAL_PEER_BYTES];
};

struct pipe_peers {
    pthread_mutex_t lock; /* guards all */
    struct known *buckets[BUCKETS];
    uint32_t ended[KEPT]; /* the newest ones, in a ring */
    size_t n_ended;
};

struct pipe_peers *pipe_peers_new(void)
{
    struct pipe_peers *peers = ht_xcalloc(1, sizeof *peers);
    pthread_mutex_init(&peers->lock, NULL);
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

void pipe_peers_note(struct pipe_peers *peers, uint32_t pipe,
                     const char *address)
{
    pthread_mutex_lock(&peers->lock);
    struct known **link = link_of(peers, pipe);
    if (*link == NULL)
        *link = ht_xcalloc(1, sizeof **link);
    (*link)->pipe = pipe;
    (void)snprintf((*link)->address, sizeof(*link)->address, "%s", address);
    pthread_mutex_unlock(&peers->lock);
}

void pipe_peers_end(struct pipe_peers *peers, uint32_t pipe)
{
    pthread_mutex_lock(&peers->lock);
    if (*link_of(peers, pipe) != NULL) {
        uint32_t *slot = &peers->ended[peers->n_ended++ % KEPT];
        if (peers->n_ended > KEPT)
            drop(link_of(peers, *slot));
        *slot = pipe;
    }
    pthread_mutex_unlock(&peers->lock);
}

bool pipe_peers_find(struct pipe_peers *peers, uint32_t pipe,
                     char address[PRINCIPAL_PEER_BYTES])
{
    pthread_mutex_lock(&peers->lock);
    const struct known *known = *link_of(peers, pipe);
    if (known != NULL)
        (void)snprintf(address, PRINCIPAL_PEER_BYTES, "%s", known->address);
    pthread_mutex_unlock(&peers->lock);
    return known != NULL;
}
