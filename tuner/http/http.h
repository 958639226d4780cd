/* http.h - the HTTP server: connections, limits, deadlines, and each request's
 * way to its lane and back.
 *
 * One thread serves all connections and never waits: a request that needs the
 * core or a reader is suspended, handed over, and resumed by its answer. */
#ifndef HT_TUNER_HTTP_HTTP_H
#define HT_TUNER_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "proto/base/error.h"

struct core;
struct gate;
struct http;
struct proxies;
struct reader_pool;
struct sessions;
struct sse;
struct store;

struct http_options {
    int listen_fd;           /* bound and listening; taken over */
    const struct gate *gate; /* these are borrowed until http_free() */
    struct sessions *sessions;
    const struct proxies *proxies; /* NULL: none is declared */
    struct core *core;
    struct reader_pool *readers;
    struct reader_pool *models; /* for LANE_MODEL */
    struct store *store;        /* for LANE_STORE */
    struct sse *sse;
    size_t page_most;  /* see struct request */
    bool relay_is_tls; /* what http_adopt() gets came by TLS */
};

/* HT_UNAVAILABLE when the daemon cannot start. */
enum ht_status http_start(const struct http_options *options,
                          struct http **http, struct ht_error *err);

/* Stops accepting connections, waits at most `wait_ms` for open requests, then
 * ends every connection. Before core and readers stop. Accepts NULL. */
void http_stop(struct http *http, int64_t wait_ms);
/* After core and readers have answered everything. Accepts NULL. */
void http_free(struct http *http);

/* Takes over a connected stream of one client: one end of a pair of AF_UNIX,
 * from the relay. `from` is the client's address, `certificate` the name in its
 * certificate, or "". Any thread, until http_free(). */
void http_adopt(struct http *http, int fd, const struct sockaddr *from,
                socklen_t len, const char *certificate);

/* Monotonic time when the newest request came or was answered; now while a
 * stream is open. Any thread. */
int64_t http_active_ms(struct http *http);

/* Binds a listening TCP socket; *port is 0 for any and gets the real one.
 * HT_EXISTS   the address is in use
 * HT_INVALID  the host is unknown
 * HT_IO       anything else */
enum ht_status http_listen(const char *host, int *port, int *fd,
                           struct ht_error *err);

#endif
