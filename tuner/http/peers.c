#include "tuner/http/peers.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"

struct peer {
    int fd;
    char address[INET6_ADDRSTRLEN];
    int64_t deadline_ms; /* monotonic; 0: none */
    struct peer *before, *next;
};

struct peers {
    pthread_mutex_t lock; /* guards the list and all deadlines */
    struct peer *first;
};

static int64_t deadline_of(enum peer_phase phase)
{
    static const int64_t limits_ms[] = {[PEER_HEADERS] = 10000,
                                        [PEER_BODY] = 30000,
                                        [PEER_WORK] = 0,
                                        [PEER_ANSWER] = 60000,
                                        [PEER_IDLE] = 60000};
    return limits_ms[phase] > 0 ? clock_monotonic_ms() + limits_ms[phase] : 0;
}

struct peers *peers_new(void)
{
    struct peers *peers = ht_xcalloc(1, sizeof *peers);
    pthread_mutex_init(&peers->lock, NULL);
    return peers;
}

void peers_free(struct peers *peers)
{
    if (peers == NULL)
        return;
    pthread_mutex_destroy(&peers->lock);
    free(peers);
}

/* An address of IPv4 has one form, also where it comes to a socket of IPv6. */
static void write_address(const struct sockaddr *address,
                          char text[INET6_ADDRSTRLEN])
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    if (address == NULL)
        return;
    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, text, INET6_ADDRSTRLEN);
    else if (address->sa_family == AF_INET6 &&
             IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text, INET6_ADDRSTRLEN);
    else if (address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &v6->sin6_addr, text, INET6_ADDRSTRLEN);
}

const char *peer_address(const struct peer *peer)
{
    return peer->address;
}

struct peer *peers_open(struct peers *peers, int fd,
                        const struct sockaddr *address)
{
    struct peer *peer = ht_xcalloc(1, sizeof *peer);
    peer->fd = fd;
    write_address(address, peer->address);
    peer->deadline_ms = deadline_of(PEER_HEADERS);
    pthread_mutex_lock(&peers->lock);
    peer->next = peers->first;
    if (peer->next != NULL)
        peer->next->before = peer;
    peers->first = peer;
    pthread_mutex_unlock(&peers->lock);
    return peer;
}

void peers_close(struct peers *peers, struct peer *peer)
{
    pthread_mutex_lock(&peers->lock);
    if (peer->before != NULL)
        peer->before->next = peer->next;
    else
        peers->first = peer->next;
    if (peer->next != NULL)
        peer->next->before = peer->before;
    pthread_mutex_unlock(&peers->lock);
    free(peer);
}

void peers_enter(struct peers *peers, struct peer *peer, enum peer_phase phase)
{
    pthread_mutex_lock(&peers->lock);
    peer->deadline_ms = deadline_of(phase);
    pthread_mutex_unlock(&peers->lock);
}

bool peers_tick(struct peers *peers, int64_t now_ms)
{
    pthread_mutex_lock(&peers->lock);
    for (struct peer *peer = peers->first; peer != NULL; peer = peer->next) {
        if (peer->deadline_ms == 0 || now_ms < peer->deadline_ms)
            continue;
        shutdown(peer->fd, SHUT_RDWR);
        peer->deadline_ms = 0;
    }
    bool any = peers->first != NULL;
    pthread_mutex_unlock(&peers->lock);
    return any;
}
