/* relay_parts.h - what the relay's files share: a connection of two sockets and
 * the bytes between them. The relay's thread only. */
#ifndef HT_PROTO_NET_RELAY_PARTS_H
#define HT_PROTO_NET_RELAY_PARTS_H

#include <sys/epoll.h>
#include <sys/queue.h>

#include "proto/net/address.h"
#include "proto/net/relay.h"

enum { SCRATCH_BYTES = 64 * 1024, BUCKETS = 1024, GATEWAY_BYTES = 256 };

enum source_kind { SOURCE_WAKE, SOURCE_LISTENER, SOURCE_END };
struct source { /* what epoll names; first member of each */
    enum source_kind kind;
};

struct way {     /* from one end to the other */
    char *bytes; /* not yet sent; NULL: none */
    size_t start, len;
    bool ended;  /* nothing more is read */
    bool passed; /* ... which was passed on */
};

struct connection;
struct end {
    struct source source;
    struct connection *connection;
    int fd;                  /* owned; -1: none yet */
    struct tls_session *tls; /* NULL: plain */
    uint32_t events;         /* in epoll; 0: it is not there */
};

enum phase {
    PHASE_ACCEPT,
    PHASE_CONNECT,
    PHASE_GREET,
    PHASE_MOVE,
    PHASE_DRAIN
};

/* The lists of a listener, each with the one that waits longest first. */
enum place {
    PLACE_UNFINISHED, /* waits for the peer's handshake, or for it to leave */
    PLACE_CONNECTING, /* waits for the other end */
    PLACE_MOVING,
    PLACES
};

TAILQ_HEAD(connections, connection);

struct connection {
    TAILQ_ENTRY(connection) links; /* of its place */
    struct listener *listener;
    struct end ends[2]; /* accepted, connected */
    struct way ways[2]; /* ways[i] leads away from ends[i] */
    enum phase phase;
    uint32_t waits; /* for what, in a handshake */
    struct relay_peer peer;
    unsigned bucket; /* of the peer's address */
    uint64_t key;
    int64_t since;                /* monotonic: began; moved last */
    void *checked;                /* of the check */
    struct relay_refusal refusal; /* of bytes; all zero: none */
    bool seen;                    /* bytes were passed to the other end */
    enum place place;             /* the listener's list that it is in */
    bool turn;                    /* it moved bytes when the round began */
    bool dead;                    /* closed, freed after the round */
};

struct listener {
    struct source source;
    struct listener *next;
    struct relay_listener set; /* limits are not 0; address is `name` */
    char name[GATEWAY_BYTES];
    int port, fd;
    struct address to;
    char host[NI_MAXHOST];
    bool closing;      /* the thread removes it */
    int64_t paused_ms; /* no accept before; 0: it accepts */
    int64_t logged_ms; /* of the last line about a failure; 0: none */
    uint64_t failures; /* since */
    size_t n_all, n_unfinished;
    struct connections lists[PLACES];
    unsigned short all_of[BUCKETS], unfinished_of[BUCKETS]; /* by address */
};

struct target { /* what `to` of a listener names */
    struct address address;
    char host[NI_MAXHOST];
};

/* May ask the network. HT_INVALID */
enum ht_status listener_resolve(const struct relay_listener *wanted,
                                struct target *target, struct ht_error *err);
/* For later connections. */
void listener_aim(struct listener *listener, const struct target *target);
/* Listens. HT_INVALID, HT_IO as relay_open(). */
enum ht_status listener_make(const struct relay_listener *wanted,
                             const struct target *target,
                             struct listener **listener, struct ht_error *err);

struct relay_ports; /* local ports and who is behind them */
struct relay_ports *relay_ports_new(void);
void relay_ports_free(struct relay_ports *ports);

/* What a step needs. */
struct mover {
    int epoll;
    char scratch[SCRATCH_BYTES];
    struct relay_ports *ports;
};

/* Takes `fd` over. */
struct connection *connection_new(struct listener *listener, int fd,
                                  const struct relay_peer *peer);
/* Does what can be done after epoll reported `events` of ends[which]. False: it
 * is over; *why says so where it failed before its first byte. */
bool connection_step(struct mover *mover, struct connection *connection,
                     int which, uint32_t events, struct ht_error *why);
/* Closes its sockets; the memory stays until connection_free(). */
void connection_close(struct mover *mover, struct connection *connection);
void connection_free(struct connection *connection);

/* Connects and remembers the port, so that no lookup comes between. */
int relay_ports_connect(struct relay_ports *ports, int fd,
                        const struct address *to,
                        const struct relay_peer *peer);
void relay_ports_drop(struct relay_ports *ports, const struct relay_peer *peer,
                      int fd);
bool relay_ports_find(struct relay_ports *ports, int port,
                      struct relay_peer *peer);

#endif
