#include "runner/container/relay.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/arena.h"

/* ---- two connected sockets and the bytes between them ----
 *
 * Nothing blocks. The end of one direction is passed on behind its bytes, and
 * the other direction continues. */

struct address {
    struct sockaddr_storage storage;
    socklen_t len;
};

enum { WAY_BYTES = 64 * 1024 }; /* waiting in one direction */

struct way {     /* from one side to the other */
    char *bytes; /* WAY_BYTES, owned */
    size_t start, len;
    bool ended;  /* the side has closed its direction */
    bool passed; /* ... which was passed on */
};

struct pipe {
    int fds[2]; /* accepted, connected; owned */
    bool connecting;
    struct way ways[2]; /* ways[i] leads away from fds[i] */
};

/* A peer that vanished must not keep its connection for ever. */
static void tune(int fd)
{
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* Takes `came` over and connects it. False: that cannot be; `came` is closed,
 * nothing is left. */
static bool pipe_open(struct pipe *pipe, int came, const struct address *to)
{
    const int fd = socket(to->storage.ss_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 ||
        (connect(fd, (const struct sockaddr *)&to->storage, to->len) != 0 &&
         errno != EINPROGRESS)) {
        if (fd >= 0)
            close(fd);
        close(came);
        return false;
    }
    tune(came);
    tune(fd);
    *pipe = (struct pipe){.fds = {came, fd}, .connecting = true};
    for (int i = 0; i < 2; i++)
        pipe->ways[i].bytes = ht_xcalloc(WAY_BYTES, 1);
    return true;
}

static void pipe_close(struct pipe *pipe)
{
    for (int i = 0; i < 2; i++) {
        close(pipe->fds[i]);
        free(pipe->ways[i].bytes);
    }
}

/* What to wait for; an fd of -1 waits for nothing. */
static void pipe_events(const struct pipe *pipe, struct pollfd fds[2])
{
    for (int i = 0; i < 2; i++) {
        const struct way *out = &pipe->ways[i];
        const struct way *in = &pipe->ways[1 - i];
        short events = 0;
        if (!out->ended && out->len < WAY_BYTES)
            events |= POLLIN;
        if (in->len > 0)
            events |= POLLOUT;
        if (pipe->connecting)
            events = i == 1 ? POLLOUT : 0;
        /* poll() reports a closed peer always, without end. */
        fds[i] = (struct pollfd){.fd = events != 0 ? pipe->fds[i] : -1,
                                 .events = events};
    }
}

static bool has_connected(int fd)
{
    int code = 0;
    socklen_t len = sizeof code;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) == 0 && code == 0;
}

static bool is_for_later(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static bool take(struct way *way, int fd)
{
    if (way->ended || way->len == WAY_BYTES)
        return true;
    if (way->start > 0)
        memmove(way->bytes, way->bytes + way->start, way->len);
    way->start = 0;
    const ssize_t n = recv(fd, way->bytes + way->len, WAY_BYTES - way->len, 0);
    if (n < 0)
        return is_for_later();
    way->len += (size_t)n;
    way->ended = n == 0;
    return true;
}

static bool give(struct way *way, int fd)
{
    if (way->len > 0) {
        const ssize_t n =
            send(fd, way->bytes + way->start, way->len, MSG_NOSIGNAL);
        if (n < 0)
            return is_for_later();
        way->start += (size_t)n;
        way->len -= (size_t)n;
    }
    if (way->ended && !way->passed && way->len == 0) {
        way->passed = true;
        return shutdown(fd, SHUT_WR) == 0;
    }
    return true;
}

/* Moves what can be moved. False when all is over: to be closed. */
static bool pipe_move(struct pipe *pipe, const struct pollfd fds[2])
{
    if (pipe->connecting) {
        if (fds[1].revents == 0)
            return true;
        pipe->connecting = false;
        return has_connected(pipe->fds[1]);
    }
    for (int i = 0; i < 2; i++) {
        if ((fds[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 &&
            !take(&pipe->ways[i], pipe->fds[i]))
            return false;
    }
    for (int i = 0; i < 2; i++) {
        if (!give(&pipe->ways[i], pipe->fds[1 - i]))
            return false;
    }
    return !(pipe->ways[0].passed && pipe->ways[1].passed);
}

/* ---- listeners and connections ---- */

enum { GATEWAY_BYTES = 64, MOST_LISTENERS = 1024 };

struct listener {
    struct listener *next;
    char gateway[GATEWAY_BYTES];
    int port;
    int fd;
    struct address to; /* the server's report address */
    size_t connections;
    bool closing; /* the thread removes it */
};

struct connection {
    struct connection *next;
    struct listener *listener;
    struct pipe pipe;
};

struct relay {
    pthread_t thread;
    int wake; /* eventfd: the lists have changed */
    pthread_mutex_t lock;
    pthread_cond_t removed; /* a closing listener was removed */
    bool stopping;
    struct listener *listeners; /* under the lock; only the thread removes */
    struct connection *connections; /* the thread's own */
    size_t n_connections;
};

/* ---- the thread ---- */

static void drop_connection(struct relay *relay, struct connection **link)
{
    struct connection *connection = *link;
    *link = connection->next;
    connection->listener->connections--;
    relay->n_connections--;
    pipe_close(&connection->pipe);
    free(connection);
}

static void drop_listener(struct relay *relay, struct listener **link)
{
    struct listener *listener = *link;
    struct connection **at = &relay->connections;
    while (*at != NULL) {
        if ((*at)->listener == listener)
            drop_connection(relay, at);
        else
            at = &(*at)->next;
    }
    *link = listener->next;
    close(listener->fd);
    free(listener);
    pthread_cond_broadcast(&relay->removed);
}

/* Under the lock. */
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

static void accept_one(struct relay *relay, struct listener *listener)
{
    const int fd =
        accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (relay->n_connections >= RELAY_CONNECTIONS ||
        listener->connections >= RELAY_CONNECTIONS_EACH) {
        close(fd);
        return;
    }
    struct connection *connection = ht_xcalloc(1, sizeof *connection);
    if (!pipe_open(&connection->pipe, fd, &listener->to)) {
        free(connection);
        return;
    }
    connection->listener = listener;
    connection->next = relay->connections;
    relay->connections = connection;
    listener->connections++;
    relay->n_connections++;
}

struct watch { /* what one poll() waits for, in the order of the lists */
    size_t n_listeners;
    struct pollfd fds[1 + MOST_LISTENERS + 2 * RELAY_CONNECTIONS];
};

/* Under the lock. */
static size_t fill_watch(const struct relay *relay, struct watch *watch)
{
    size_t n = 0;
    watch->fds[n++] = (struct pollfd){.fd = relay->wake, .events = POLLIN};
    const struct listener *listener = relay->listeners;
    for (; listener != NULL; listener = listener->next)
        watch->fds[n++] = (struct pollfd){.fd = listener->fd, .events = POLLIN};
    watch->n_listeners = n - 1;
    const struct connection *connection = relay->connections;
    for (; connection != NULL; connection = connection->next, n += 2)
        pipe_events(&connection->pipe, &watch->fds[n]);
    return n;
}

/* Under the lock. Listeners that came since the watch was filled are before the
 * others. */
static void serve_watch(struct relay *relay, const struct watch *watch)
{
    const struct pollfd *fd = &watch->fds[1 + watch->n_listeners];
    struct connection **at = &relay->connections;
    for (; *at != NULL; fd += 2) {
        if (pipe_move(&(*at)->pipe, fd))
            at = &(*at)->next;
        else
            drop_connection(relay, at);
    }
    struct listener *listener = relay->listeners;
    fd = &watch->fds[1];
    for (size_t i = 0; i < watch->n_listeners; i++, fd++) {
        while (listener->fd != fd->fd)
            listener = listener->next;
        if (fd->revents != 0)
            accept_one(relay, listener);
    }
}

static void *run(void *argument)
{
    struct relay *relay = argument;
    struct watch *watch = ht_xcalloc(1, sizeof *watch);
    pthread_mutex_lock(&relay->lock);
    while (!relay->stopping) {
        const size_t n = fill_watch(relay, watch);
        pthread_mutex_unlock(&relay->lock);
        const int ready = poll(watch->fds, n, -1);
        pthread_mutex_lock(&relay->lock);
        if (ready > 0)
            serve_watch(relay, watch);
        uint64_t count;
        (void)!read(relay->wake, &count, sizeof count);
        drop_closing(relay);
    }
    drop_closing(relay);
    pthread_mutex_unlock(&relay->lock);
    free(watch);
    return NULL;
}

/* ---- called by other threads ---- */

static void wake(struct relay *relay)
{
    const uint64_t one = 1;
    (void)!write(relay->wake, &one, sizeof one);
}

enum ht_status relay_start(struct relay **relay, struct ht_error *err)
{
    struct relay *made = ht_xcalloc(1, sizeof *made);
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->removed, NULL);
    int code = made->wake < 0 ? errno : 0;
    if (code == 0)
        code = pthread_create(&made->thread, NULL, run, made);
    if (code != 0) {
        if (made->wake >= 0)
            close(made->wake);
        free(made);
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
    pthread_cond_destroy(&relay->removed);
    pthread_mutex_destroy(&relay->lock);
    close(relay->wake);
    free(relay);
}

static bool resolve(const char *host, const char *port, int flags,
                    struct address *address)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = flags};
    struct addrinfo *found;
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return false;
    memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
    address->len = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

/* tcp://HOST:PORT, HOST maybe in brackets. */
static bool resolve_url(const char *url, struct address *address)
{
    static const char scheme[] = "tcp://";
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    char host[NI_MAXHOST];
    (void)snprintf(host, sizeof host, "%s", url + sizeof scheme - 1);
    char *port = strrchr(host, ':');
    if (port == NULL)
        return false;
    *port++ = '\0';
    char *name = host;
    const size_t len = strlen(name);
    if (len >= 2 && name[0] == '[' && name[len - 1] == ']') {
        name[len - 1] = '\0';
        name++;
    }
    return resolve(name, port, AI_NUMERICSERV, address);
}

/* The network's bridge may be made later. */
static int listen_at(const struct address *address)
{
    const int family = address->storage.ss_family;
    const int yes = 1;
    const int fd =
        socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &yes, sizeof yes);
    else
        setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &yes, sizeof yes);
    if (bind(fd, (const struct sockaddr *)&address->storage, address->len) ==
            0 &&
        listen(fd, RELAY_CONNECTIONS_EACH) == 0)
        return fd;
    const int code = errno;
    close(fd);
    errno = code;
    return -1;
}

static int port_of(int fd)
{
    struct sockaddr_storage bound = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof bound;
    char port[NI_MAXSERV] = "";
    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0 ||
        getnameinfo((const struct sockaddr *)&bound, len, NULL, 0, port,
                    sizeof port, NI_NUMERICSERV) != 0)
        return 0;
    return (int)strtol(port, NULL, 10);
}

/* Under the lock. Port 0 takes whichever the gateway has. */
static struct listener *find_listener(struct relay *relay, const char *gateway,
                                      int port, bool closing)
{
    struct listener *at = relay->listeners;
    while (at != NULL &&
           (at->closing != closing || strcmp(at->gateway, gateway) != 0 ||
            (port != 0 && at->port != port)))
        at = at->next;
    return at;
}

static enum ht_status make_listener(const char *gateway, const char *report_url,
                                    int port, struct listener **listener,
                                    struct ht_error *err)
{
    struct address here, to;
    char number[16];
    (void)snprintf(number, sizeof number, "%d", port);
    if (strlen(gateway) >= GATEWAY_BYTES ||
        !resolve(gateway, number, AI_NUMERICHOST | AI_NUMERICSERV, &here))
        return ht_fail(err, HT_INVALID, "%.64s is no address to listen at",
                       gateway);
    if (!resolve_url(report_url, &to))
        return ht_fail(err, HT_INVALID, "%.160s is not tcp://HOST:PORT",
                       report_url);
    const int fd = listen_at(&here);
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot listen at %s port %d", gateway,
                             port);
    struct listener *made = ht_xcalloc(1, sizeof *made);
    (void)snprintf(made->gateway, sizeof made->gateway, "%s", gateway);
    made->port = port_of(fd);
    made->fd = fd;
    made->to = to;
    *listener = made;
    return HT_OK;
}

/* Under the lock. */
static enum ht_status add_listener(struct relay *relay,
                                   struct listener *listener,
                                   struct ht_error *err)
{
    size_t n = 0;
    for (const struct listener *at = relay->listeners; at; at = at->next)
        n++;
    if (n == MOST_LISTENERS)
        return ht_fail(err, HT_IO, "the relay has %zu networks already", n);
    listener->next = relay->listeners;
    relay->listeners = listener;
    return HT_OK;
}

enum ht_status relay_open(struct relay *relay, const char *gateway,
                          const char *report_url, int *port,
                          struct ht_error *err)
{
    struct listener *made = NULL;
    pthread_mutex_lock(&relay->lock);
    const struct listener *found = find_listener(relay, gateway, *port, false);
    if (found != NULL)
        *port = found->port;
    pthread_mutex_unlock(&relay->lock);
    if (found != NULL)
        return HT_OK;
    enum ht_status status =
        make_listener(gateway, report_url, *port, &made, err);
    if (made == NULL)
        return status;
    pthread_mutex_lock(&relay->lock);
    status = add_listener(relay, made, err);
    if (status == HT_OK)
        *port = made->port;
    pthread_mutex_unlock(&relay->lock);
    if (status != HT_OK) {
        close(made->fd);
        free(made);
        return status;
    }
    wake(relay);
    return HT_OK;
}

void relay_close(struct relay *relay, const char *gateway, int port)
{
    pthread_mutex_lock(&relay->lock);
    struct listener *listener = find_listener(relay, gateway, port, false);
    if (listener != NULL) {
        listener->closing = true;
        wake(relay);
    }
    /* The pointer may be dangling by then: searched by name each time. */
    while (listener != NULL) {
        pthread_cond_wait(&relay->removed, &relay->lock);
        listener = find_listener(relay, gateway, port, true);
    }
    pthread_mutex_unlock(&relay->lock);
}
