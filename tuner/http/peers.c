#include "tuner/http/peers.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "tuner/core/principal.h"
#include "tuner/http/crowd.h"

struct peer {
    int fd;
    bool by_tls;
    bool left; /* in the middle of a body, when it was looked at last */
    char address[INET6_ADDRSTRLEN];
    char certificate[PRINCIPAL_CERTIFICATE_BYTES];
    enum peer_phase phase;
    int64_t deadline_ms; /* monotonic */
    int64_t bytes;       /* of its body, counted in the crowd's */
    struct crowd *crowd; /* NULL: it was shut down */
    struct links by_phase, in_crowd;
};

/* A connection that is about to begin. */
struct expected {
    SLIST_ENTRY(expected) links;
    int fd;
    char certificate[PRINCIPAL_CERTIFICATE_BYTES];
};

struct peers {
    pthread_mutex_t lock; /* guards all */
    SLIST_HEAD(, expected) expected;
    struct crowds *crowds;
    /* One limit for each phase, so the first has the earliest deadline. */
    struct links phases[PEER_PHASES];
    size_t most, n; /* not shut down */
    size_t open;    /* not closed */
};

static const int64_t limits_ms[PEER_PHASES] = {[PEER_HEADERS] = 10000,
                                               [PEER_BODY] = 30000,
                                               [PEER_WORK] = INT64_MAX,
                                               [PEER_ANSWER] = 60000,
                                               [PEER_IDLE] = 60000};

struct peers *peers_new(size_t most)
{
    struct peers *peers = ht_xcalloc(1, sizeof *peers);
    pthread_mutex_init(&peers->lock, NULL);
    peers->crowds = crowds_new();
    peers->most = most;
    for (int i = 0; i < PEER_PHASES; i++)
        links_init(&peers->phases[i]);
    return peers;
}

void peers_free(struct peers *peers)
{
    if (peers == NULL)
        return;
    struct expected *at;
    while ((at = SLIST_FIRST(&peers->expected)) != NULL) {
        SLIST_REMOVE_HEAD(&peers->expected, links);
        free(at);
    }
    crowds_free(peers->crowds);
    pthread_mutex_destroy(&peers->lock);
    free(peers);
}

/* An address of IPv4 has one form, also where it comes to a socket of IPv6.
 * `net` is what counts as one address: a host has 2^64 of IPv6. */
static void write_address(const struct sockaddr *address,
                          char text[INET6_ADDRSTRLEN],
                          char net[INET6_ADDRSTRLEN])
{
    if (address != NULL && address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &v4->sin_addr, text, INET6_ADDRSTRLEN);
    } else if (address != NULL && address->sa_family == AF_INET6) {
        struct in6_addr v6 = ((const struct sockaddr_in6 *)address)->sin6_addr;
        if (!IN6_IS_ADDR_V4MAPPED(&v6)) {
            inet_ntop(AF_INET6, &v6, text, INET6_ADDRSTRLEN);
            memset(&v6.s6_addr[8], 0, 8);
            inet_ntop(AF_INET6, &v6, net, INET6_ADDRSTRLEN);
            return;
        }
        inet_ntop(AF_INET, &v6.s6_addr[12], text, INET6_ADDRSTRLEN);
    }
    memcpy(net, text, INET6_ADDRSTRLEN);
}

const char *peer_address(const struct peer *peer)
{
    return peer->address;
}

const char *peer_certificate(const struct peer *peer)
{
    return peer->certificate;
}

int peer_fd(const struct peer *peer)
{
    return peer->fd;
}

bool peer_is_by_tls(const struct peer *peer)
{
    return peer->by_tls;
}

/* --- all that follow: the lock is held --- */

static void place(struct peers *peers, struct peer *peer, enum peer_phase phase)
{
    const bool waits = phase == PEER_HEADERS || phase == PEER_IDLE;
    struct crowd *crowd = peer->crowd;
    crowd->bytes -= peer->bytes;
    peer->bytes = 0;
    peer->phase = phase;
    peer->deadline_ms = phase == PEER_WORK
                            ? INT64_MAX
                            : clock_monotonic_ms() + limits_ms[phase];
    links_append(&peers->phases[phase], &peer->by_phase);
    links_append(waits ? &crowd->waiting : &crowd->working, &peer->in_crowd);
    peer->left = false;
}

static void leave_crowd(struct peers *peers, struct peer *peer)
{
    peer->crowd->bytes -= peer->bytes;
    peer->bytes = 0;
    links_remove(&peer->in_crowd);
    crowd_leave(peers->crowds, peer->crowd);
    peer->crowd = NULL;
}

/* The library sees its end, and closes it. */
static void end(struct peers *peers, struct peer *peer)
{
    assert(peer->crowd != NULL);
    shutdown(peer->fd, SHUT_RDWR);
    links_remove(&peer->by_phase);
    leave_crowd(peers, peer);
    peers->n--;
}

static struct peer *first_in(const struct links *list)
{
    return links_empty(list) ? NULL
                             : LINKS_OF(list->next, struct peer, in_crowd);
}

static int64_t begun_ms(const struct peer *peer)
{
    return peer->deadline_ms - limits_ms[peer->phase];
}

/* The first one that does not wait for us, who may be slow. */
static struct peer *first_slow(const struct links *working)
{
    for (struct links *at = working->next; at != working; at = at->next) {
        struct peer *peer = LINKS_OF(at, struct peer, in_crowd);
        if (peer->phase != PEER_WORK)
            return peer;
    }
    return NULL;
}

/* Who sends a body slowly must not outlive those whose head comes at once. One
 * that we work for ends only where there is no other one but the new. */
static struct peer *oldest_of(const struct crowd *crowd, const struct peer *new)
{
    struct peer *waits = first_in(&crowd->waiting);
    struct peer *slow = first_slow(&crowd->working);
    if (slow != NULL && (waits == new || begun_ms(slow) <= begun_ms(waits)))
        return slow;
    return waits == new && !links_empty(&crowd->working)
               ? first_in(&crowd->working)
               : waits;
}

static struct peer *oldest_of_all(const struct peers *peers,
                                  struct peer *newest)
{
    static const enum peer_phase order[] = {PEER_HEADERS, PEER_IDLE, PEER_BODY};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const struct links *list = &peers->phases[order[i]];
        struct peer *oldest = LINKS_OF(list->next, struct peer, by_phase);
        if (!links_empty(list) && oldest != newest)
            return oldest;
    }
    return newest;
}

/* A new one ends another one where there are too many. */
static void make_room(struct peers *peers, struct peer *new)
{
    struct crowd *crowd = new->crowd;
    if (crowd->n > (size_t)budget_of(crowd->budget)) {
        crowd_note(peers->crowds, crowd, clock_monotonic_ms());
        end(peers, oldest_of(crowd, new));
    } else if (peers->n > peers->most) {
        struct peer *oldest = oldest_of_all(peers, new);
        crowd_note(peers->crowds, oldest->crowd, clock_monotonic_ms());
        end(peers, oldest);
    }
}

static bool claim(struct peers *peers, struct peer *peer, const char *name)
{
    if (peer->crowd == NULL)
        return false;
    if (peer->crowd->budget == BUDGET_CONNECTIONS &&
        strcmp(peer->crowd->key, name) == 0)
        return true;
    struct crowd *crowd = crowd_of(peers->crowds, BUDGET_CONNECTIONS, name);
    crowd->n++; /* first, so that it lasts while others leave */
    bool fits = crowd->n <= (size_t)budget_of(BUDGET_CONNECTIONS);
    if (!fits) {
        crowd_note(peers->crowds, crowd, clock_monotonic_ms());
        struct peer *oldest = first_in(&crowd->waiting);
        fits = oldest != NULL;
        if (fits)
            end(peers, oldest);
    }
    if (!fits) {
        crowd_leave(peers->crowds, crowd);
        return false;
    }
    leave_crowd(peers, peer);
    peer->crowd = crowd;
    place(peers, peer, peer->phase);
    return true;
}

/* The lock is held; "" where none was expected. */
static void take_expected(struct peers *peers, int fd,
                          char certificate[PRINCIPAL_CERTIFICATE_BYTES])
{
    struct expected *at;
    SLIST_FOREACH(at, &peers->expected, links)
    if (at->fd == fd)
        break;
    if (at == NULL)
        return;
    memcpy(certificate, at->certificate, sizeof at->certificate);
    SLIST_REMOVE(&peers->expected, at, expected, links);
    free(at);
}

/* --- the interface --- */

void peers_expect(struct peers *peers, int fd, const char *certificate)
{
    struct expected *made = ht_xcalloc(1, sizeof *made);
    made->fd = fd;
    memory_lock(&peers->lock);
    take_expected(peers, fd, made->certificate); /* which never began */
    (void)snprintf(made->certificate, sizeof made->certificate, "%s",
                   certificate);
    SLIST_INSERT_HEAD(&peers->expected, made, links);
    memory_unlock(&peers->lock);
}

struct peer *peers_open(struct peers *peers, int fd,
                        const struct sockaddr *address, bool by_tls)
{
    char net[INET6_ADDRSTRLEN] = "";
    struct peer *peer = ht_xcalloc(1, sizeof *peer);
    peer->fd = fd;
    peer->by_tls = by_tls;
    write_address(address, peer->address, net);
    links_init(&peer->by_phase);
    links_init(&peer->in_crowd);
    memory_lock(&peers->lock);
    if (by_tls)
        take_expected(peers, fd, peer->certificate);
    peers->open++;
    peers->n++;
    peer->crowd = crowd_of(peers->crowds, BUDGET_HALF_OPEN, net);
    peer->crowd->n++;
    place(peers, peer, PEER_HEADERS);
    make_room(peers, peer);
    memory_unlock(&peers->lock);
    return peer;
}

void peers_close(struct peers *peers, struct peer *peer)
{
    memory_lock(&peers->lock);
    if (peer->crowd != NULL) {
        links_remove(&peer->by_phase);
        leave_crowd(peers, peer);
        peers->n--;
    }
    peers->open--;
    memory_unlock(&peers->lock);
    free(peer);
}

void peers_enter(struct peers *peers, struct peer *peer, enum peer_phase phase)
{
    memory_lock(&peers->lock);
    if (peer->crowd != NULL)
        place(peers, peer, phase);
    memory_unlock(&peers->lock);
}

bool peers_claim(struct peers *peers, struct peer *peer, const char *principal)
{
    memory_lock(&peers->lock);
    const bool claimed = claim(peers, peer, principal);
    memory_unlock(&peers->lock);
    return claimed;
}

bool peers_hold(struct peers *peers, struct peer *peer, size_t bytes)
{
    memory_lock(&peers->lock);
    struct crowd *crowd = peer->crowd;
    const bool fits = crowd != NULL && crowd->bytes + (int64_t)bytes <=
                                           budget_of(BUDGET_BODY_BYTES);
    if (fits) {
        crowd->bytes += (int64_t)bytes;
        peer->bytes += (int64_t)bytes;
    }
    memory_unlock(&peers->lock);
    if (!fits)
        budget_exceeded(BUDGET_BODY_BYTES);
    return fits;
}

void peers_release(struct peers *peers, struct peer *peer)
{
    memory_lock(&peers->lock);
    if (peer->crowd != NULL)
        peer->crowd->bytes -= peer->bytes;
    peer->bytes = 0;
    memory_unlock(&peers->lock);
}

/* Nothing more comes, and all that came was read. */
static bool is_at_end(const struct peer *peer)
{
    char byte;
    const ssize_t n = recv(peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* The library misses an end that comes with the bytes before it, as its epoll
 * is edge-triggered. At the second look the rest of the body, if it was all
 * there, has been taken. */
static void end_left(struct peers *peers)
{
    const struct links *list = &peers->phases[PEER_BODY];
    struct links *next;
    for (struct links *at = list->next; at != list; at = next) {
        struct peer *peer = LINKS_OF(at, struct peer, by_phase);
        const bool left = is_at_end(peer);
        next = at->next;
        if (left && peer->left)
            end(peers, peer);
        else
            peer->left = left;
    }
}

bool peers_tick(struct peers *peers, int64_t now_ms)
{
    memory_lock(&peers->lock);
    end_left(peers);
    for (int i = 0; i < PEER_PHASES; i++) {
        const struct links *list = &peers->phases[i];
        struct links *next;
        for (struct links *at = list->next; at != list; at = next) {
            struct peer *peer = LINKS_OF(at, struct peer, by_phase);
            next = at->next;
            if (i == PEER_WORK || now_ms < peer->deadline_ms)
                break;
            end(peers, peer);
        }
    }
    const bool more = crowds_tick(peers->crowds, now_ms) || peers->open > 0;
    memory_unlock(&peers->lock);
    return more;
}
