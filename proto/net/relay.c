#include "proto/net/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/net/relay_parts.h"

enum {
    EVENTS = 128,   /* of one round */
    ACCEPTS = 32,   /* of one listener in a round */
    PAUSE_MS = 100, /* without descriptors, before the next accept */
    LOG_MS = 60000
};

struct relay {
    pthread_t thread;
    struct source wake_source;
    int wake;               /* eventfd: something has changed */
    pthread_mutex_t lock;   /* guards all that follows; free while it waits */
    pthread_cond_t removed; /* a closing listener was removed */
    bool stopping;
    struct listener *listeners; /* only the thread removes */
    struct connections dead;    /* freed after the round */
    size_t most;
    uint64_t newest; /* number of a connection */
    struct relay_counts counts;
    struct mover mover;
};

/* ---- lists and counters ---- */

static void count_unfinished(struct connection *connection, int by)
{
    struct listener *listener = connection->listener;
    listener->n_unfinished = (size_t)((long)listener->n_unfinished + by);
    listener->unfinished_of[connection->bucket] =
        (unsigned short)(listener->unfinished_of[connection->bucket] + by);
}

static void unlist(struct connection *connection)
{
    TAILQ_REMOVE(&connection->listener->lists[connection->place], connection,
                 links);
    if (connection->place == PLACE_UNFINISHED)
        count_unfinished(connection, -1);
}

static void list(struct connection *connection)
{
    TAILQ_INSERT_TAIL(&connection->listener->lists[connection->place],
                      connection, links);
    if (connection->place == PLACE_UNFINISHED)
        count_unfinished(connection, 1);
}

static enum place place_of(enum phase phase)
{
    switch (phase) {
    case PHASE_CONNECT:
    case PHASE_GREET:
        return PLACE_CONNECTING;
    case PHASE_MOVE:
        return PLACE_MOVING;
    case PHASE_ACCEPT:
    case PHASE_DRAIN:
        break;
    }
    return PLACE_UNFINISHED;
}

/* To the end of the list that fits its phase, with its time from now on, when
 * it moved bytes or got farther. A handshake keeps its deadline, however often
 * a byte comes. */
static void relist(struct connection *connection, enum phase before)
{
    const enum place place = place_of(connection->phase);
    if (place != PLACE_MOVING && connection->phase == before)
        return;
    unlist(connection);
    connection->place = place;
    connection->since = clock_monotonic_ms();
    list(connection);
}

static void end(struct relay *relay, struct connection *connection)
{
    struct listener *listener = connection->listener;
    unlist(connection);
    listener->n_all--;
    listener->all_of[connection->bucket]--;
    relay->counts.connections--;
    connection_close(&relay->mover, connection);
    TAILQ_INSERT_TAIL(&relay->dead, connection, links);
}

static void free_dead(struct relay *relay)
{
    struct connection *connection;
    while ((connection = TAILQ_FIRST(&relay->dead)) != NULL) {
        TAILQ_REMOVE(&relay->dead, connection, links);
        connection_free(connection);
    }
}

/* The first of the list that is from that bucket, or NULL. */
static struct connection *first_of(const struct connections *all,
                                   unsigned bucket)
{
    struct connection *at = TAILQ_FIRST(all);
    while (at != NULL && at->bucket != bucket)
        at = TAILQ_NEXT(at, links);
    return at;
}

static void end_unfinished(struct relay *relay, struct connection *connection,
                           bool each)
{
    const struct relay_listener *set = &connection->listener->set;
    relay->counts.ended_unfinished++;
    if (set->exceeded != NULL)
        set->exceeded(set->context, each);
    end(relay, connection);
}

/* One of that bucket: without its handshake, or else idle for longest. */
static void end_one_of(struct relay *relay, struct listener *listener,
                       unsigned bucket)
{
    struct connection *oldest = NULL;
    for (int i = 0; oldest == NULL && i < PLACES; i++)
        oldest = first_of(&listener->lists[i == 0   ? PLACE_UNFINISHED
                                           : i == 1 ? PLACE_MOVING
                                                    : PLACE_CONNECTING],
                          bucket);
    if (oldest == NULL)
        return;
    if (oldest->place == PLACE_UNFINISHED)
        relay->counts.ended_unfinished++;
    else
        relay->counts.ended_idle++;
    end(relay, oldest);
}

static unsigned fullest(const struct listener *listener)
{
    unsigned found = 0;
    for (unsigned i = 1; i < BUCKETS; i++)
        if (listener->all_of[i] > listener->all_of[found])
            found = i;
    return found;
}

/* ---- accepting ---- */

/* The newcomer is served; another one ends for it. */
static void make_room(struct relay *relay, struct listener *listener,
                      unsigned bucket)
{
    const struct relay_listener *set = &listener->set;
    struct connections *unfinished = &listener->lists[PLACE_UNFINISHED];
    if (listener->unfinished_of[bucket] >= set->unfinished_each)
        end_unfinished(relay, first_of(unfinished, bucket), true);
    if (listener->n_unfinished >= set->unfinished)
        end_unfinished(relay, TAILQ_FIRST(unfinished), false);
    if (listener->all_of[bucket] >= set->most_each)
        end_one_of(relay, listener, bucket);
    if (listener->n_all >= set->most)
        end_one_of(relay, listener, fullest(listener));
}

static void write_peer(struct relay *relay, struct relay_peer *peer, bool tls)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&peer->from;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&peer->from;
    peer->number = ++relay->newest;
    peer->tls = tls;
    if (peer->from.ss_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, peer->address, INET6_ADDRSTRLEN);
    else if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], peer->address,
                  INET6_ADDRSTRLEN);
    else
        inet_ntop(AF_INET6, &v6->sin6_addr, peer->address, INET6_ADDRSTRLEN);
}

static void log_failure(struct listener *listener,
                        const struct connection *connection,
                        const struct ht_error *why)
{
    const int64_t now_ms = clock_monotonic_ms();
    listener->failures++;
    if (why->text[0] == '\0' ||
        (listener->logged_ms != 0 && now_ms - listener->logged_ms < LOG_MS))
        return;
    log_event(LOG_WARN, "relay.refused",
              "listener=%s:%d peer=%s failures=%llu why=\"%s\"", listener->name,
              listener->port, connection->peer.address,
              (unsigned long long)listener->failures, why->text);
    listener->logged_ms = now_ms;
    listener->failures = 0;
}

static void note_failure(struct relay *relay, struct connection *connection,
                         enum phase before, const struct ht_error *why)
{
    const struct relay_listener *set = &connection->listener->set;
    relay->counts.failed++;
    log_failure(connection->listener, connection, why);
    if (before == PHASE_ACCEPT && why->status == HT_UNAUTHENTICATED &&
        set->refused != NULL)
        set->refused(set->context, &connection->peer, why->text);
}

static void step(struct relay *relay, struct connection *connection, int which,
                 uint32_t events)
{
    struct ht_error why = {.text = ""};
    const bool was_refused = connection->refusal.answer != NULL;
    const enum phase before = connection->phase;
    const bool lives =
        connection_step(&relay->mover, connection, which, events, &why);
    relist(connection, before);
    if (!was_refused && connection->refusal.answer != NULL)
        relay->counts.refused++;
    if (why.text[0] != '\0' ||
        (!lives && !connection->seen && before != PHASE_DRAIN))
        note_failure(relay, connection, before, &why);
    if (!lives)
        end(relay, connection);
}

/* False: there is none now. */
static bool accept_one(struct relay *relay, struct listener *listener)
{
    struct relay_peer peer = {.from_len = sizeof peer.from};
    const int fd = accept4(listener->fd, (struct sockaddr *)&peer.from,
                           &peer.from_len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
            listener->paused_ms = clock_monotonic_ms() + PAUSE_MS;
        return errno == ECONNABORTED || errno == EINTR;
    }
    relay->counts.accepted++;
    if (relay->counts.connections >= relay->most) {
        close(fd);
        return true;
    }
    write_peer(relay, &peer, listener->set.accept_tls != NULL);
    struct connection *connection = connection_new(listener, fd, &peer);
    make_room(relay, listener, connection->bucket);
    listener->n_all++;
    listener->all_of[connection->bucket]++;
    relay->counts.connections++;
    list(connection);
    step(relay, connection, 0, EPOLLIN);
    return true;
}

static void watch_listener(struct relay *relay, struct listener *listener,
                           bool accepts)
{
    struct epoll_event event = {.events = accepts ? EPOLLIN : 0,
                                .data.ptr = listener};
    epoll_ctl(relay->mover.epoll, EPOLL_CTL_MOD, listener->fd, &event);
}

static void accept_some(struct relay *relay, struct listener *listener)
{
    for (int i = 0; i < ACCEPTS && accept_one(relay, listener); i++) {
    }
    if (listener->paused_ms != 0)
        watch_listener(relay, listener, false);
}

/* ---- the thread; the lock is held but for waiting ---- */

static void drop_listener(struct relay *relay, struct listener **link)
{
    struct listener *listener = *link;
    for (int i = 0; i < PLACES; i++)
        while (!TAILQ_EMPTY(&listener->lists[i]))
            end(relay, TAILQ_FIRST(&listener->lists[i]));
    free_dead(relay);
    *link = listener->next;
    /* A fork() of this process may still have it, see connection_close(). */
    epoll_ctl(relay->mover.epoll, EPOLL_CTL_DEL, listener->fd, NULL);
    close(listener->fd);
    free(listener);
    pthread_cond_broadcast(&relay->removed);
}

static void drop_closing(struct relay *relay)
{
    struct listener **at = &relay->listeners;
    while (*at != NULL) {
        if ((*at)->closing || relay->stopping)
            drop_listener(relay, at);
        else
            at = &(*at)->next;
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Ends those of a list that are late; when the next one will be, INT64_MAX:
 * none. */
static int64_t end_late_in(struct relay *relay, struct connections *all,
                           int64_t most_ms, int64_t now_ms)
{
    struct connection *at;
    while ((at = TAILQ_FIRST(all)) != NULL && now_ms - at->since >= most_ms) {
        if (at->place == PLACE_MOVING)
            relay->counts.ended_idle++;
        else
            relay->counts.ended_unfinished++;
        end(relay, at);
    }
    return at != NULL ? at->since + most_ms : INT64_MAX;
}

static int64_t end_late(struct relay *relay, struct listener *listener,
                        int64_t now_ms)
{
    const struct relay_listener *set = &listener->set;
    int64_t next_ms = listener->paused_ms > 0 ? listener->paused_ms : INT64_MAX;
    for (int i = 0; i < PLACES; i++) {
        const int64_t most_ms =
            i == PLACE_MOVING ? set->idle_ms : set->handshake_ms;
        if (most_ms > 0)
            next_ms = earlier(next_ms, end_late_in(relay, &listener->lists[i],
                                                   most_ms, now_ms));
    }
    if (listener->paused_ms == 0 || now_ms < listener->paused_ms)
        return next_ms;
    listener->paused_ms = 0;
    watch_listener(relay, listener, true);
    return now_ms;
}

static int wait_ms(struct relay *relay)
{
    const int64_t now_ms = clock_monotonic_ms();
    int64_t next_ms = INT64_MAX;
    for (struct listener *at = relay->listeners; at != NULL; at = at->next)
        next_ms = earlier(next_ms, end_late(relay, at, now_ms));
    if (next_ms == INT64_MAX)
        return -1;
    const int64_t left_ms = next_ms - now_ms;
    return left_ms < 1 ? 1 : (int)earlier(left_ms, 60000);
}

/* What moves bytes already is served before the handshakes of strangers. */
static void serve(struct relay *relay, const struct epoll_event events[], int n,
                  bool moving)
{
    for (int i = 0; i < n; i++) {
        struct source *source = events[i].data.ptr;
        if (source->kind == SOURCE_LISTENER && !moving) {
            accept_some(relay, (struct listener *)source);
        } else if (source->kind == SOURCE_END) {
            struct end *at = (struct end *)source;
            struct connection *connection = at->connection;
            if (!connection->dead && connection->turn == moving)
                step(relay, connection, at != &connection->ends[0],
                     events[i].events);
        }
    }
}

/* Its turn is decided before the first is served: a handshake that ends in
 * this round is no reason to serve it twice. */
static void decide_turns(const struct epoll_event events[], int n)
{
    for (int i = 0; i < n; i++) {
        const struct source *source = events[i].data.ptr;
        if (source->kind != SOURCE_END)
            continue;
        struct connection *connection =
            ((const struct end *)(const void *)source)->connection;
        connection->turn = connection->place == PLACE_MOVING;
    }
}

static void *run(void *argument)
{
    struct relay *relay = argument;
    struct epoll_event events[EVENTS];
    pthread_mutex_lock(&relay->lock);
    while (!relay->stopping) {
        const int left_ms = wait_ms(relay);
        free_dead(relay);
        pthread_mutex_unlock(&relay->lock);
        const int n = epoll_wait(relay->mover.epoll, events, EVENTS, left_ms);
        pthread_mutex_lock(&relay->lock);
        uint64_t count;
        (void)!read(relay->wake, &count, sizeof count);
        decide_turns(events, n);
        serve(relay, events, n, true);
        serve(relay, events, n, false);
        free_dead(relay);
        drop_closing(relay);
    }
    drop_closing(relay);
    pthread_mutex_unlock(&relay->lock);
    return NULL;
}

/* ---- called by other threads ---- */

static void wake(struct relay *relay)
{
    const uint64_t one = 1;
    (void)!write(relay->wake, &one, sizeof one);
}

static void release(struct relay *relay)
{
    if (relay->wake >= 0)
        close(relay->wake);
    if (relay->mover.epoll >= 0)
        close(relay->mover.epoll);
    relay_ports_free(relay->mover.ports);
    pthread_cond_destroy(&relay->removed);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}

enum ht_status relay_start(size_t most, struct relay **relay,
                           struct ht_error *err)
{
    struct relay *made = ht_xcalloc(1, sizeof *made);
    made->most = most;
    made->wake_source.kind = SOURCE_WAKE;
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    made->mover.epoll = epoll_create1(EPOLL_CLOEXEC);
    made->mover.ports = relay_ports_new();
    TAILQ_INIT(&made->dead);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->removed, NULL);
    struct epoll_event event = {.events = EPOLLIN,
                                .data.ptr = &made->wake_source};
    int code = made->wake < 0 || made->mover.epoll < 0 ||
                       epoll_ctl(made->mover.epoll, EPOLL_CTL_ADD, made->wake,
                                 &event) != 0
                   ? errno
                   : 0;
    if (code == 0)
        code = pthread_create(&made->thread, NULL, run, made);
    if (code != 0) {
        release(made);
        return ht_fail_errno(err, code, "cannot start the relay");
    }
    *relay = made;
    return HT_OK;
}

void relay_stop(struct relay *relay)
{
    if (relay == NULL)
        return;
    pthread_mutex_lock(&relay->lock);
    relay->stopping = true;
    pthread_mutex_unlock(&relay->lock);
    wake(relay);
    pthread_join(relay->thread, NULL);
    release(relay);
}

/* Under the lock. Port 0 takes whichever the address has. */
static struct listener *find(const struct relay *relay, const char *name,
                             int port, bool closing)
{
    struct listener *at = relay->listeners;
    while (at != NULL &&
           (at->closing != closing || strcmp(at->name, name) != 0 ||
            (port != 0 && at->port != port)))
        at = at->next;
    return at;
}

/* Under the lock. */
static enum ht_status add(struct relay *relay, struct listener *listener,
                          struct ht_error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = listener};
    if (epoll_ctl(relay->mover.epoll, EPOLL_CTL_ADD, listener->fd, &event) != 0)
        return ht_fail_errno(err, errno, "cannot watch %s port %d",
                             listener->name, listener->port);
    listener->next = relay->listeners;
    relay->listeners = listener;
    return HT_OK;
}

enum ht_status relay_open(struct relay *relay,
                          const struct relay_listener *wanted, int *port,
                          struct ht_error *err)
{
    struct target target;
    struct listener *made = NULL;
    enum ht_status status = listener_resolve(wanted, &target, err);
    if (status != HT_OK)
        return status;
    pthread_mutex_lock(&relay->lock);
    struct listener *listener =
        wanted->fd > 0 ? NULL
                       : find(relay, wanted->address, wanted->port, false);
    if (listener != NULL) {
        listener_aim(listener, &target);
        listener->set.connect_tls = wanted->connect_tls;
    } else {
        status = listener_make(wanted, &target, &made, err);
        if (status == HT_OK)
            status = add(relay, made, err);
        listener = made;
    }
    if (status == HT_OK)
        *port = listener->port;
    pthread_mutex_unlock(&relay->lock);
    if (status == HT_OK || made == NULL)
        return status;
    if (wanted->fd <= 0)
        close(made->fd);
    free(made);
    return status;
}

void relay_close(struct relay *relay, const char *address, int port)
{
    pthread_mutex_lock(&relay->lock);
    struct listener *listener = find(relay, address, port, false);
    if (listener != NULL) {
        listener->closing = true;
        wake(relay);
        while (find(relay, address, port, true) != NULL)
            pthread_cond_wait(&relay->removed, &relay->lock);
    }
    pthread_mutex_unlock(&relay->lock);
}

bool relay_peer_of_port(struct relay *relay, int port, struct relay_peer *peer)
{
    return relay_ports_find(relay->mover.ports, port, peer);
}

void relay_count(struct relay *relay, struct relay_counts *counts)
{
    pthread_mutex_lock(&relay->lock);
    *counts = relay->counts;
    pthread_mutex_unlock(&relay->lock);
}
