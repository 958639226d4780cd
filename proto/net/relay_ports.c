/* relay_ports.c - the local ports of the relay, and who is behind each. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/net/relay_parts.h"

enum { PORT_BUCKETS = 512 }; /* a power of two */

struct known {
    struct known *next;
    int port;
    struct relay_peer peer;
};

struct relay_ports {
    pthread_mutex_t lock; /* guards all */
    struct known *buckets[PORT_BUCKETS];
};

struct relay_ports *relay_ports_new(void)
{
    struct relay_ports *ports = ht_xcalloc(1, sizeof *ports);
    pthread_mutex_init(&ports->lock, NULL);
    return ports;
}

void relay_ports_free(struct relay_ports *ports)
{
    if (ports == NULL)
        return;
    for (size_t i = 0; i < PORT_BUCKETS; i++)
        while (ports->buckets[i] != NULL) {
            struct known *known = ports->buckets[i];
            ports->buckets[i] = known->next;
            free(known);
        }
    pthread_mutex_destroy(&ports->lock);
    free(ports);
}

/* The link of the port's entry, or the last one of its bucket. */
static struct known **link_of(struct relay_ports *ports, int port)
{
    struct known **at = &ports->buckets[port % PORT_BUCKETS];
    while (*at != NULL && (*at)->port != port)
        at = &(*at)->next;
    return at;
}

int relay_ports_connect(struct relay_ports *ports, int fd,
                        const struct address *to, const struct relay_peer *peer)
{
    pthread_mutex_lock(&ports->lock);
    const int rc = connect(fd, (const struct sockaddr *)&to->storage, to->len);
    const int code = errno;
    const int port = address_port(fd);
    struct known **at = link_of(ports, port);
    if (port > 0 && *at == NULL)
        *at = ht_xcalloc(1, sizeof **at);
    if (port > 0) {
        (*at)->port = port;
        (*at)->peer = *peer;
    }
    pthread_mutex_unlock(&ports->lock);
    errno = code;
    return rc;
}

void relay_ports_drop(struct relay_ports *ports, const struct relay_peer *peer,
                      int fd)
{
    const int port = address_port(fd);
    pthread_mutex_lock(&ports->lock);
    struct known **at = link_of(ports, port), *known = *at;
    /* The port may be another connection's by now. */
    if (known != NULL && known->peer.number == peer->number) {
        *at = known->next;
        free(known);
    }
    pthread_mutex_unlock(&ports->lock);
}

bool relay_ports_find(struct relay_ports *ports, int port,
                      struct relay_peer *peer)
{
    pthread_mutex_lock(&ports->lock);
    const struct known *known = *link_of(ports, port);
    const bool found = known != NULL;
    if (found)
        *peer = known->peer;
    pthread_mutex_unlock(&ports->lock);
    return found;
}
