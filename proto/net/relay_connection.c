/* relay_connection.c - one connection of the relay: handshakes, then bytes both
 * ways. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/net/relay_parts.h"

enum { READS = 4 }; /* of one end, before others have their turn */

/* A peer that vanished must not keep its connection for ever. */
static void tune(int fd)
{
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

struct connection *connection_new(struct listener *listener, int fd,
                                  const struct relay_peer *peer)
{
    struct connection *made = ht_xcalloc(1, sizeof *made);
    for (int i = 0; i < 2; i++)
        made->ends[i] = (struct end){{SOURCE_END}, made, -1, NULL, 0};
    made->listener = listener;
    made->peer = *peer;
    made->key = address_key(&peer->from);
    made->bucket = (unsigned)(made->key * 0x9e3779b97f4a7c15U >> 32) % BUCKETS;
    made->since = clock_monotonic_ms();
    made->ends[0].fd = fd;
    tune(fd);
    if (listener->set.accept_tls != NULL)
        made->ends[0].tls = tls_accept(listener->set.accept_tls, fd);
    const struct relay_check *check = listener->set.check;
    if (check != NULL)
        made->checked = check->open(check->context, peer);
    return made;
}

/* For which events an end waits, 0: for none, and it is taken out, since epoll
 * reports a closed peer always. */
static void watch_end(const struct mover *mover, struct end *end,
                      uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = end};
    if (events != end->events)
        epoll_ctl(mover->epoll,
                  events == 0        ? EPOLL_CTL_DEL
                  : end->events == 0 ? EPOLL_CTL_ADD
                                     : EPOLL_CTL_MOD,
                  end->fd, &event);
    end->events = events;
}

/* A descriptor that a fork() of this process still has would be reported after
 * its close, so each is taken out of epoll before. */
void connection_close(struct mover *mover, struct connection *connection)
{
    if (connection->ends[1].fd >= 0)
        relay_ports_drop(mover->ports, &connection->peer,
                         connection->ends[1].fd);
    for (int i = 0; i < 2; i++) {
        watch_end(mover, &connection->ends[i], 0);
        tls_session_free(connection->ends[i].tls);
        if (connection->ends[i].fd >= 0)
            close(connection->ends[i].fd);
        free(connection->ways[i].bytes);
    }
    if (connection->checked != NULL)
        connection->listener->set.check->close(connection->checked);
    connection->dead = true;
}

void connection_free(struct connection *connection)
{
    free(connection);
}

/* ---- the other end ---- */

static bool hand_over(struct connection *connection)
{
    const struct relay_listener *set = &connection->listener->set;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   pair) != 0)
        return false;
    connection->ends[1].fd = pair[0];
    connection->phase = PHASE_MOVE;
    if (set->take(set->context, pair[1], &connection->peer))
        return true;
    close(pair[1]);
    return false;
}

static bool open_onward(struct mover *mover, struct connection *connection)
{
    const struct listener *listener = connection->listener;
    if (listener->set.take != NULL)
        return hand_over(connection);
    const int fd = socket(listener->to.storage.ss_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    connection->ends[1].fd = fd;
    connection->phase = PHASE_CONNECT;
    connection->waits = EPOLLOUT;
    tune(fd);
    return relay_ports_connect(mover->ports, fd, &listener->to,
                               &connection->peer) == 0 ||
           errno == EINPROGRESS;
}

static bool has_connected(int fd)
{
    int code = 0;
    socklen_t len = sizeof code;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) == 0 && code == 0;
}

/* ---- handshakes ---- */

static bool greet(struct connection *connection, struct tls_session *tls,
                  bool *done, struct ht_error *why)
{
    const enum tls_result result = tls_handshake(tls, why);
    *done = result == TLS_DONE;
    connection->waits = result == TLS_WANT_WRITE ? EPOLLOUT : EPOLLIN;
    return result != TLS_FAILED;
}

/* A reset, which the bytes of a peer that are not read would cause, could
 * overtake the alert. */
static bool part(struct connection *connection, const struct ht_error *why)
{
    if (why->status != HT_UNAUTHENTICATED)
        return false;
    struct end *end = &connection->ends[0];
    tls_session_free(end->tls);
    end->tls = NULL;
    connection->ways[1].ended = connection->ways[1].passed = true;
    connection->phase = PHASE_DRAIN;
    return shutdown(end->fd, SHUT_WR) == 0;
}

static bool step_accept(struct mover *mover, struct connection *connection,
                        struct ht_error *why)
{
    bool done = true;
    struct tls_session *tls = connection->ends[0].tls;
    if (tls != NULL && !greet(connection, tls, &done, why))
        return part(connection, why);
    if (!done)
        return true;
    if (tls != NULL)
        (void)snprintf(connection->peer.certificate, TLS_NAME_BYTES, "%s",
                       tls_client_name(tls));
    return open_onward(mover, connection);
}

static bool step_connect(struct connection *connection, uint32_t events)
{
    if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0)
        return true;
    if (!has_connected(connection->ends[1].fd))
        return false;
    const struct listener *listener = connection->listener;
    connection->phase = PHASE_MOVE;
    if (listener->set.connect_tls != NULL) {
        connection->ends[1].tls = tls_connect(
            listener->set.connect_tls, connection->ends[1].fd, listener->host);
        connection->phase = PHASE_GREET;
    }
    return true;
}

/* ---- bytes ---- */

static ssize_t end_recv(struct end *end, char *bytes, size_t len)
{
    return end->tls != NULL ? tls_recv(end->tls, bytes, len)
                            : recv(end->fd, bytes, len, 0);
}

static ssize_t end_send(struct end *end, const char *bytes, size_t len)
{
    return end->tls != NULL ? tls_send(end->tls, bytes, len)
                            : send(end->fd, bytes, len, MSG_NOSIGNAL);
}

static bool is_for_later(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Sends what can be; returns how many, -1 when the socket failed. */
static ssize_t send_some(struct end *end, const char *bytes, size_t len)
{
    size_t sent = 0;
    while (sent < len) {
        const ssize_t n = end_send(end, bytes + sent, len - sent);
        if (n <= 0)
            return n < 0 && is_for_later() ? (ssize_t)sent : -1;
        sent += (size_t)n;
    }
    return (ssize_t)sent;
}

static bool pass_bytes(struct way *way, struct end *to, const char *bytes,
                       size_t len)
{
    const ssize_t sent = send_some(to, bytes, len);
    if (sent < 0)
        return false;
    if ((size_t)sent < len) {
        way->bytes = ht_xcalloc(len - (size_t)sent, 1);
        way->len = len - (size_t)sent;
        way->start = 0;
        memcpy(way->bytes, bytes + sent, way->len);
    }
    return true;
}

/* How many of the bytes of the accepting side may pass. */
static size_t look(struct connection *connection, const char *bytes, size_t len)
{
    const struct relay_check *check = connection->listener->set.check;
    if (check == NULL)
        return len;
    const size_t pass =
        check->see(connection->checked, bytes, len, &connection->refusal);
    return pass < len ? pass : len;
}

/* Reads of ends[i] and passes on. */
static bool move_from(struct mover *mover, struct connection *connection, int i)
{
    struct way *way = &connection->ways[i];
    struct end *from = &connection->ends[i];
    for (int reads = 0; reads < READS && way->len == 0 && !way->ended;
         reads++) {
        const ssize_t n = end_recv(from, mover->scratch, SCRATCH_BYTES);
        if (n < 0)
            return is_for_later();
        way->ended = n == 0;
        const size_t pass =
            i == 0 ? look(connection, mover->scratch, (size_t)n) : (size_t)n;
        if (pass > 0 &&
            !pass_bytes(way, &connection->ends[1 - i], mover->scratch, pass))
            return false;
        connection->seen |= i == 0 && pass > 0;
        way->ended |= pass < (size_t)n;
        if (from->tls == NULL && n < SCRATCH_BYTES)
            return true; /* most often there is no more */
    }
    return true;
}

/* The answer to refused bytes follows what was asked before. */
static void add_answer(struct connection *connection)
{
    struct way *back = &connection->ways[1];
    const struct relay_refusal *refusal = &connection->refusal;
    if (refusal->answer == NULL || back->len > 0 ||
        connection->phase == PHASE_DRAIN ||
        (connection->seen && !refusal->alone && !back->ended))
        return;
    back->bytes = ht_xstrdup(refusal->answer);
    back->len = strlen(refusal->answer);
    back->start = 0;
    back->ended = true;
    connection->phase = PHASE_DRAIN;
}

static bool pass_end(struct way *way, struct end *to)
{
    if (to->tls == NULL) {
        way->passed = true;
        return shutdown(to->fd, SHUT_WR) == 0;
    }
    const enum tls_result result = tls_end(to->tls);
    way->passed = result == TLS_DONE;
    return result != TLS_FAILED;
}

/* Sends of what waits for ends[1 - i], then its end. */
static bool move_waiting(struct connection *connection, int i)
{
    struct way *way = &connection->ways[i];
    struct end *to = &connection->ends[1 - i];
    if (way->len > 0) {
        const ssize_t sent = send_some(to, way->bytes + way->start, way->len);
        if (sent < 0)
            return false;
        way->start += (size_t)sent;
        way->len -= (size_t)sent;
    }
    if (way->len > 0)
        return true;
    free(way->bytes);
    way->bytes = NULL;
    return !way->ended || way->passed || pass_end(way, to);
}

static bool step_move(struct mover *mover, struct connection *connection,
                      int which, uint32_t events)
{
    const uint32_t readable = EPOLLIN | EPOLLHUP | EPOLLERR;
    struct way *ways = connection->ways;
    for (int i = 0; i < 2; i++) {
        struct end *end = &connection->ends[i];
        const bool more = end->tls != NULL && tls_has_more(end->tls);
        if (((i == which && (events & readable) != 0) || more) &&
            !move_from(mover, connection, i))
            return false;
    }
    add_answer(connection);
    for (int i = 0; i < 2; i++) {
        if (!move_waiting(connection, i))
            return false;
    }
    return !(ways[0].passed && ways[1].passed) ||
           connection->phase == PHASE_DRAIN;
}

/* What a refused peer still sends is read, lest its answer be lost by a reset;
 * the deadline of a handshake ends that. */
static bool step_drain(struct mover *mover, struct connection *connection)
{
    if (!move_waiting(connection, 1))
        return false;
    const ssize_t n =
        end_recv(&connection->ends[0], mover->scratch, SCRATCH_BYTES);
    return n > 0 || (n < 0 && is_for_later());
}

/* ---- epoll ---- */

static uint32_t wanted(const struct connection *connection, int i)
{
    const struct way *out = &connection->ways[i];
    const struct way *in = &connection->ways[1 - i];
    const bool gives = in->len > 0 || (in->ended && !in->passed);
    switch (connection->phase) {
    case PHASE_ACCEPT:
        return i == 0 ? connection->waits : 0;
    case PHASE_CONNECT:
    case PHASE_GREET:
        return i == 1 ? connection->waits : 0;
    case PHASE_DRAIN:
        return i == 0 ? EPOLLIN | (gives ? EPOLLOUT : 0) : 0;
    case PHASE_MOVE:
        break;
    }
    return (!out->ended && out->len == 0 ? EPOLLIN : 0) |
           (gives ? EPOLLOUT : 0);
}

static void watch(const struct mover *mover, struct connection *connection)
{
    for (int i = 0; i < 2; i++) {
        struct end *end = &connection->ends[i];
        watch_end(mover, end, end->fd >= 0 ? wanted(connection, i) : 0);
    }
}

bool connection_step(struct mover *mover, struct connection *connection,
                     int which, uint32_t events, struct ht_error *why)
{
    bool done = false, lives = true;
    if (connection->phase == PHASE_ACCEPT)
        lives = step_accept(mover, connection, why);
    else if (connection->phase == PHASE_CONNECT)
        lives = step_connect(connection, events);
    else if (connection->phase == PHASE_MOVE)
        lives = step_move(mover, connection, which, events);
    else if (connection->phase == PHASE_DRAIN)
        lives = step_drain(mover, connection);
    if (lives && connection->phase == PHASE_GREET) {
        lives = greet(connection, connection->ends[1].tls, &done, why);
        if (done)
            connection->phase = PHASE_MOVE;
    }
    /* What came within the handshakes is announced by no event. */
    if (lives && connection->phase == PHASE_MOVE && !connection->seen &&
        which == 0 && connection->ends[0].tls != NULL &&
        tls_has_more(connection->ends[0].tls))
        lives = step_move(mover, connection, 0, EPOLLIN);
    if (lives)
        watch(mover, connection);
    return lives;
}
