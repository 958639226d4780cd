/* relay.h - accepts connections, by TLS or plain, and passes their bytes on to
 * another socket, by TLS or plain.
 *
 * One thread for all; nothing blocks. The end of one direction is passed on
 * behind its bytes, and the other direction continues. A connection that fails
 * is closed at both ends, to a TLS peer without the word that nothing more
 * comes, so that it sees the loss. Thread-safe but for the callbacks. */
#ifndef HT_PROTO_NET_RELAY_H
#define HT_PROTO_NET_RELAY_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "proto/base/error.h"
#include "proto/net/tls.h"

struct relay;

/* `most`: connections at once of all listeners; further ones are closed.
 * HT_IO  no thread or descriptor */
enum ht_status relay_start(size_t most, struct relay **relay,
                           struct ht_error *err);
void relay_stop(struct relay *relay); /* closes all; accepts NULL */

/* Who has connected. */
struct relay_peer {
    uint64_t number; /* of the connection, unique in its relay */
    struct sockaddr_storage from;
    socklen_t from_len;
    char address[INET6_ADDRSTRLEN]; /* without a port */
    bool tls;
    char certificate[TLS_NAME_BYTES]; /* as tls_client_name() */
};

struct relay_refusal {
    const char *answer; /* what the peer gets, static text; NULL: nothing */
    bool alone;         /* nothing was asked before, so it is sent at once */
};

/* A look at the bytes of the accepting side before they are passed on. Called
 * by the relay's thread; must not block. */
struct relay_check {
    void *context;
    /* Makes the state of one connection. */
    void *(*open)(void *context, const struct relay_peer *peer);
    /* Sees `len` bytes that follow those before. Returns how many may pass:
     * fewer than all only when the rest is refused; then the peer gets the
     * answer, unless it is alone after those to what passed before, and is
     * closed. */
    size_t (*see)(void *state, const char *bytes, size_t len,
                  struct relay_refusal *refusal);
    void (*close)(void *state);
};

struct relay_listener {  /* copied; pointers are borrowed until it is closed */
    const char *address; /* IPv4 or IPv6, which may not exist yet */
    int port;            /* 0: any */
    int fd;              /* > 0: listening already, taken over on success;
                            address and port only name it */
    /* Where to: one of both. */
    const char *to; /* tcp://HOST:PORT, or tls+tcp:// with connect_tls; copied,
                       the host is resolved by relay_open() */
    /* Gets one end of a socket pair. False: it does not want it (the relay
     * closes both). Called by the relay's thread; must not block. */
    bool (*take)(void *context, int fd, const struct relay_peer *peer);
    /* A newcomer has ended another connection without its handshake, `each`:
     * of the same peer. Called by the relay's thread; NULL: not needed. */
    void (*exceeded)(void *context, bool each);
    /* The client's certificate is missing or not accepted. Called by the
     * relay's thread, must not block; NULL: not needed. */
    void (*refused)(void *context, const struct relay_peer *peer,
                    const char *why);
    void *context;
    struct tls_server *accept_tls;   /* NULL: plain */
    struct tls_client *connect_tls;  /* NULL: plain */
    const struct relay_check *check; /* NULL: none */
    /* Limits; 0: the default in brackets. A newcomer beyond one ends the
     * connection idle for longest of the same peer, beyond `most` of the peer
     * with most. */
    size_t most;            /* connections (128) */
    size_t most_each;       /* ... of one IPv4 address or IPv6 /64 (most) */
    size_t unfinished;      /* ... not yet through the handshake: a newcomer
                               ends the oldest (256) */
    size_t unfinished_each; /* ... of one peer (16) */
    int handshake_ms;       /* for both handshakes (10000) */
    int64_t idle_ms;        /* without a byte in any direction (no limit) */
};

/* Listens; *port is set to the real one. When it listens at that address and
 * port already (port 0: at any port), only `to` and `connect_tls` change, for
 * later connections.
 * HT_INVALID  the address or `to` is no such address
 * HT_IO       it cannot be listened there */
enum ht_status relay_open(struct relay *relay,
                          const struct relay_listener *wanted, int *port,
                          struct ht_error *err);
/* Closes the listener and its connections before it returns. Not from a
 * callback. */
void relay_close(struct relay *relay, const char *address, int port);

/* Who is behind the connection that the relay has made from this local port.
 * False: the relay has none (any more), and nothing is said about the peer. Ask
 * when a connection was accepted. Only for listeners with accept_tls. */
bool relay_peer_of_port(struct relay *relay, int port, struct relay_peer *peer);

struct relay_counts {
    uint64_t accepted, ended_unfinished, ended_idle, refused, failed;
    size_t connections;
};
/* Sums since the start; the newest reason of failed handshakes is logged at
 * most once a minute for each listener. */
void relay_count(struct relay *relay, struct relay_counts *counts);

#endif
