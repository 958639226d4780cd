#include "tuner/http/http.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/log.h"
#include "tuner/base/budget.h"
#include "tuner/base/meter.h"
#include "tuner/core/core.h"
#include "tuner/http/call.h"
#include "tuner/http/head.h"
#include "tuner/http/reply.h"
#include "tuner/http/route.h"
#include "tuner/http/sse.h"
#include "tuner/http/state.h"
#include "tuner/http/upload.h"

enum {
    MOST_CONNECTIONS = 10000,
    SPARE_CONNECTIONS = 512,  /* shut down, but not closed yet */
    RESERVED_FILES = 256,     /* for the database, logs and others */
    CONNECTION_BYTES = 24576, /* headers of HT_MAX_HEADER, parsed, fit */
    IDLE_SECONDS = 60,
    BACKLOG = 512,
    CLOCK_STACK = 131072,
    THREAD_STACK = 524288, /* a body of HT_MAX_DEPTH levels is parsed */
    TICK_MS = 500
};

/* --- callbacks of the daemon --- */

/* Paths are split before they are decoded, so %2F stays inside its part. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection,
                           char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* Came through the relay, whose sockets are none of a network, by TLS. */
static bool is_by_tls(const struct http *http, int fd)
{
    int domain = 0;
    socklen_t len = sizeof domain;
    return http->options.relay_is_tls &&
           getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
           domain == AF_UNIX;
}

static void on_connection(void *context, struct MHD_Connection *connection,
                          void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http *http = context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        peers_close(http->peers, *socket_context);
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *socket_context =
        peers_open(http->peers, info->connect_fd, from->client_addr,
                   is_by_tls(http, info->connect_fd));
    pthread_mutex_lock(&http->lock);
    pthread_cond_broadcast(&http->changed);
    pthread_mutex_unlock(&http->lock);
}

static void on_completed(void *context, struct MHD_Connection *connection,
                         void **call_context,
                         enum MHD_RequestTerminationCode why)
{
    struct http *http = context;
    struct call *call = *call_context;
    (void)why;
    if (call == NULL)
        return;
    const union MHD_ConnectionInfo *sent =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_HTTP_STATUS);
    if (sent != NULL)
        meter_http(call->route == NULL ? METER_NO_ROUTE
                                       : (size_t)(call->route - route_table),
                   (int)sent->http_status);
    peers_enter(http->peers, call->peer, PEER_IDLE);
    call_end(call);
    *call_context = NULL;
}

static struct call *new_call(struct http *http,
                             struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    atomic_store(&http->active_ms, clock_monotonic_ms());
    return call_new(http, connection, info->socket_context);
}

/* libmicrohttpd drops the rest of a body that is refused before it came. */
static enum MHD_Result refuse(struct call *call, const struct ht_error *err,
                              bool close)
{
    peers_enter(call->http->peers, call->peer, PEER_ANSWER);
    return call_refuse(call, err, close) ? MHD_YES : MHD_NO;
}

static void log_refused(struct call *call, const struct head *head,
                        const struct ht_error *err)
{
    const struct refused refused = {.status = ht_status_http(err->status),
                                    .why = err->text,
                                    .method = head->method,
                                    .path = head->target,
                                    .peer = call->req->from.peer[0] != '\0'
                                                ? call->req->from.peer
                                                : peer_address(call->peer),
                                    .principal = call->req->from.name};
    refused_write(&call->http->refused, &refused, clock_monotonic_ms());
}

static enum MHD_Result begin(struct call *call, const struct head *head)
{
    struct http *http = call->http;
    struct ht_error err;
    pthread_mutex_lock(&http->lock);
    bool stopping = http->stopping;
    pthread_mutex_unlock(&http->lock);
    const enum ht_status status =
        stopping ? ht_fail(&err, HT_UNAVAILABLE, "the server is stopping")
        : !memory_is_enough() ? ht_fail(&err, HT_UNAVAILABLE, MEMORY_REFUSAL)
                              : call_begin(call, head, &err);
    peers_enter(http->peers, call->peer, PEER_BODY);
    if (status == HT_OK)
        return MHD_YES;
    log_refused(call, head, &err);
    /* Most clients read nothing before they have sent their body, so a refusal
     * waits for its end, where there is one to come. */
    call->refusal = err;
    return call_is_bounded(call) ? MHD_YES : refuse(call, &err, true);
}

static enum MHD_Result take_body(struct call *call, const char *data,
                                 size_t *len)
{
    call->received += *len;
    if (call->refusal.status == HT_OK && call->received <= HT_MAX_SPEC) {
        if (peers_hold(call->http->peers, call->peer, *len))
            text_append(&call->body, data, *len);
        else
            ht_fail(&call->refusal, HT_LIMIT,
                    "the bodies under way have over %lld bytes: ask again "
                    "when they have come",
                    (long long)budget_of(BUDGET_BODY_BYTES));
    }
    if (call->refusal.status != HT_OK) {
        text_free(&call->body);
        peers_release(call->http->peers, call->peer);
    }
    *len = 0;
    return call->received <= CALL_MOST_READ ? MHD_YES : MHD_NO;
}

/* What the library says in one call, and our result. */
struct step {
    struct http *http;
    struct head head;
    const char *data;
    size_t *len;
    struct call **call;
    bool is_last; /* the whole request has come */
    enum MHD_Result result;
};

static enum MHD_Result take_step(const struct step *step)
{
    struct call *call = *step->call;
    if (call == NULL) {
        call = *step->call = new_call(step->http, step->head.connection);
        return begin(call, &step->head);
    }
    upload_resume(call);
    if (*step->len > 0)
        return upload_is_wanted(call)
                   ? upload_take(call, step->data, step->len) ? MHD_YES : MHD_NO
                   : take_body(call, step->data, step->len);
    if (call->phase != CALL_READING) {
        peers_enter(call->http->peers, call->peer,
                    call->route->lane == LANE_STREAM ? PEER_WORK : PEER_ANSWER);
        return call_finish(call) ? MHD_YES : MHD_NO;
    }
    struct ht_error err = call->refusal;
    if (err.status == HT_OK && call_dispatch(call, &err) == HT_OK)
        return MHD_YES;
    return refuse(call, &err, call->unclaimed);
}

static void do_step(void *context)
{
    struct step *step = context;
    step->result = take_step(step);
}

/* With a body under way, the refusal waits for its end. */
static enum MHD_Result refuse_for_memory(const struct step *step)
{
    struct call *call = *step->call;
    if (call != NULL && !step->is_last) {
        ht_fail(&call->refusal, HT_UNAVAILABLE, MEMORY_REFUSAL);
        text_free(&call->body);
        *step->len = 0;
        if (call_is_bounded(call))
            return MHD_YES;
    }
    return http_queue_exhausted(step->head.connection) ? MHD_YES : MHD_NO;
}

// NOLINTNEXTLINE(readability-function-size): the library's signature
static enum MHD_Result on_request(void *context,
                                  struct MHD_Connection *connection,
                                  const char *url, const char *method,
                                  const char *version, const char *data,
                                  size_t *len, void **call_context)
{
    struct call *call = *call_context;
    struct step step = {.http = context,
                        .head = {connection, method, url, version},
                        .data = data,
                        .len = len,
                        .call = &call,
                        .is_last = call != NULL && *len == 0};
    const bool whole = memory_try(do_step, &step);
    *call_context = call;
    return whole ? step.result : refuse_for_memory(&step);
}

/* --- the clock: deadlines of connections, calls and streams --- */

/* http->lock is held. */
static void expire_late(struct http *http, int64_t now_ms)
{
    struct call *next;
    for (struct call *call = http->posted; call != NULL; call = next) {
        next = call->next;
        if (now_ms >= call->deadline_ms)
            call_expire(call);
    }
}

enum { WATCHED = 512 }; /* in one look */

/* The library does not watch a suspended connection. http->lock is held. */
static bool look_at(struct call *calls[], struct pollfd fds[], nfds_t n)
{
    bool gone = false;
    if (n == 0 || poll(fds, n, 0) <= 0)
        return false;
    for (nfds_t i = 0; i < n; i++)
        if ((fds[i].revents & (POLLHUP | POLLERR)) != 0) {
            call_abandon(calls[i]);
            gone = true;
        } else if ((fds[i].revents & POLLRDHUP) != 0) {
            call_probe(calls[i]);
            gone |= calls[i]->phase == CALL_EXPIRED;
        }
    return gone;
}

/* Calls that clients have left are resumed, so that they end; the core drops
 * what it holds of them. Only those that take longer than a tick are looked
 * at. http->lock is held. */
static void drop_left(struct http *http, int64_t now_ms)
{
    struct call *calls[WATCHED], *next;
    struct pollfd fds[WATCHED];
    nfds_t n = 0;
    bool gone = false;
    for (struct call *call = http->posted; call != NULL; call = next) {
        next = call->next;
        if (now_ms - call->posted_ms >= TICK_MS) {
            calls[n] = call;
            fds[n++] = (struct pollfd){peer_fd(call->peer), POLLRDHUP, 0};
        }
        if (n == WATCHED || next == NULL) {
            gone |= look_at(calls, fds, n);
            n = 0;
        }
    }
    if (gone)
        core_drop_abandoned(http->options.core);
}

static void wait_ms(struct http *http, int64_t ms)
{
    const struct timespec until = clock_in_ms(ms);
    pthread_cond_timedwait(&http->changed, &http->lock, &until);
}

/* Sleeps as long as no connection is open. */
static void *run_clock(void *context)
{
    struct http *http = context;
    int64_t next_ms = 0;
    pthread_mutex_lock(&http->lock);
    while (!http->clock_stopping) {
        int64_t now_ms = clock_monotonic_ms();
        if (now_ms < next_ms) {
            wait_ms(http, next_ms - now_ms);
            continue;
        }
        next_ms = now_ms + TICK_MS;
        expire_late(http, now_ms);
        drop_left(http, now_ms);
        sse_tick(http->options.sse, now_ms);
        if (!peers_tick(http->peers, now_ms) && !http->clock_stopping)
            pthread_cond_wait(&http->changed, &http->lock);
    }
    pthread_mutex_unlock(&http->lock);
    return NULL;
}

/* --- start and stop --- */

__attribute__((format(printf, 2, 0))) static void
on_daemon_log(void *context, const char *format, va_list args)
{
    char text[512];
    (void)context;
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    log_event(LOG_DEBUG, "http.library", "text=\"%s\"", text);
}

/* At most half of the descriptors: reports and files need some, too. The
 * library's own limits would refuse the newest, so they are never reached. */
static size_t most_connections(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
        files.rlim_cur / 2 > MOST_CONNECTIONS + SPARE_CONNECTIONS)
        return MOST_CONNECTIONS;
    return files.rlim_cur > (rlim_t)2 * RESERVED_FILES
               ? (files.rlim_cur - RESERVED_FILES) / 2
               : RESERVED_FILES / 2;
}

static struct MHD_Daemon *start_daemon(struct http *http)
{
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD |
                           MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                           MHD_USE_ERROR_LOG;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER,
        on_daemon_log, NULL, MHD_OPTION_LISTEN_SOCKET, http->options.listen_fd,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(most_connections() + SPARE_CONNECTIONS),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_END);
}

static int start_clock(struct http *http)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, CLOCK_STACK);
    int failed = pthread_create(&http->clock, &attr, run_clock, http);
    pthread_attr_destroy(&attr);
    return failed;
}

static void stop_clock(struct http *http)
{
    pthread_mutex_lock(&http->lock);
    http->clock_stopping = true;
    pthread_cond_broadcast(&http->changed);
    pthread_mutex_unlock(&http->lock);
    pthread_join(http->clock, NULL);
}

static void name_route(size_t route, const char **method, const char **pattern)
{
    *method = route_table[route].method;
    *pattern = route_table[route].pattern;
}

enum ht_status http_start(const struct http_options *options, struct http **out,
                          struct ht_error *err)
{
    if (!http_prepare_exhausted())
        return ht_fail(err, HT_UNAVAILABLE, "cannot start the HTTP daemon");
    struct http *http = ht_xcalloc(1, sizeof *http);
    http->options = *options;
    http->peers = peers_new(most_connections());
    meter_name_routes(route_count, name_route);
    atomic_store(&http->active_ms, clock_monotonic_ms());
    pthread_mutex_init(&http->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&http->changed, &attr);
    pthread_condattr_destroy(&attr);
    int failed = start_clock(http);
    if (failed == 0)
        http->daemon = start_daemon(http);
    if (http->daemon == NULL) {
        if (failed == 0)
            stop_clock(http);
        http_free(http);
        return ht_fail(err, HT_UNAVAILABLE, "cannot start the HTTP daemon");
    }
    *out = http;
    return HT_OK;
}

/* http->lock is held. */
static void wait_for_calls(struct http *http, int64_t until_ms)
{
    for (;;) {
        int64_t left_ms = until_ms - clock_monotonic_ms();
        if (http->n_unfinished == 0 || left_ms <= 0)
            return;
        wait_ms(http, left_ms);
    }
}

void http_stop(struct http *http, int64_t wait_for_ms)
{
    if (http == NULL)
        return;
    /* From here on connections are refused. The daemon's thread may still take
     * the socket out of its set, so the descriptor is closed after its end. */
    const int fd = MHD_quiesce_daemon(http->daemon);
    if (fd >= 0)
        shutdown(fd, SHUT_RDWR);
    sse_close(http->options.sse);
    pthread_mutex_lock(&http->lock);
    http->stopping = true;
    wait_for_calls(http, clock_monotonic_ms() + wait_for_ms);
    /* The library aborts when a connection is still suspended at its stop. */
    http->closed = true;
    while (http->posted != NULL)
        call_expire(http->posted);
    pthread_mutex_unlock(&http->lock);
    stop_clock(http);
    MHD_stop_daemon(http->daemon);
    if (fd >= 0)
        close(fd);
}

void http_free(struct http *http)
{
    if (http == NULL)
        return;
    peers_free(http->peers);
    pthread_cond_destroy(&http->changed);
    pthread_mutex_destroy(&http->lock);
    free(http);
}

void http_adopt(struct http *http, int fd, const struct sockaddr *from,
                socklen_t len, const char *certificate)
{
    pthread_mutex_lock(&http->lock);
    const bool stopping = http->stopping;
    if (http->options.relay_is_tls)
        peers_expect(http->peers, fd, certificate);
    if (stopping || MHD_add_connection(http->daemon, fd, from, len) != MHD_YES)
        log_event(LOG_DEBUG, "http.not_adopted", "stopping=%d", stopping);
    pthread_mutex_unlock(&http->lock);
    if (stopping)
        close(fd); /* the library closes what it refuses */
}

int64_t http_active_ms(struct http *http)
{
    return sse_is_empty(http->options.sse) ? atomic_load(&http->active_ms)
                                           : clock_monotonic_ms();
}

/* --- the listening socket --- */

static int open_socket(const struct addrinfo *info)
{
    int on = 1;
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC,
                    info->ai_protocol);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    int failed = errno;
    close(fd);
    errno = failed;
    return -1;
}

static int port_of(int fd)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    char port[NI_MAXSERV];
    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0 ||
        getnameinfo((struct sockaddr *)&bound, len, NULL, 0, port, sizeof port,
                    NI_NUMERICSERV) != 0)
        return 0;
    return (int)strtol(port, NULL, 10);
}

enum ht_status http_listen(const char *host, int *port, int *fd,
                           struct ht_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list;
    char service[16];
    snprintf(service, sizeof service, "%d", *port);
    int failed = getaddrinfo(host, service, &hints, &list);
    if (failed != 0)
        return ht_fail(err, HT_INVALID, "cannot listen on %s: %s", host,
                       gai_strerror(failed));
    int made = -1;
    for (struct addrinfo *at = list; made < 0 && at != NULL; at = at->ai_next)
        made = open_socket(at);
    int why = errno;
    freeaddrinfo(list);
    if (made < 0 && why == EADDRINUSE)
        return ht_fail(err, HT_EXISTS,
                       "%s:%d is in use; --listen %s:0 takes any port", host,
                       *port, host);
    if (made < 0)
        return ht_fail_errno(err, why, "cannot listen on %s:%d", host, *port);
    *port = port_of(made);
    *fd = made;
    return HT_OK;
}
