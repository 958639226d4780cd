/* peers.h - open connections: the time limit of each phase, and how many of
 * them an address and a principal may have.
 *
 * libmicrohttpd's timeout is per activity, so a client with one byte a second
 * would never end; here every phase of a request has a limit. Its limits of
 * numbers refuse the newcomer, who may be anyone; here the oldest connection of
 * the same address ends instead, and a client whose head comes at once is
 * always served. A connection counts for its address until a request on it has
 * passed the gate, then for that request's principal.
 *
 * A connection ends by shutdown() under the lock that its closing takes, so
 * its descriptor cannot belong to another one yet. */
#ifndef HT_TUNER_HTTP_PEERS_H
#define HT_TUNER_HTTP_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum peer_phase {
    PEER_HEADERS, /* new: headers are due in 10 s */
    PEER_BODY,    /* the body in 30 s */
    PEER_WORK,    /* we work: no deadline here */
    PEER_ANSWER,  /* the answer has to be read in 60 s */
    PEER_IDLE,    /* kept alive: the next headers in 60 s */
    PEER_PHASES
};

struct peers;
struct peer;
struct sockaddr;

/* No connection, and at most `most`: beyond, the oldest one that waits for a
 * head ends, whosever it is. peers_free() only after each was closed. */
struct peers *peers_new(size_t most);
void peers_free(struct peers *peers); /* all closed; accepts NULL */

/* By whose certificate the next connection by TLS with this descriptor comes;
 * "": without one. */
void peers_expect(struct peers *peers, int fd, const char *certificate);
/* A new connection, due to send its headers; end it with peers_close();
 * `address` may be NULL. It may end another one. Any thread, as all that
 * follow. */
struct peer *peers_open(struct peers *peers, int fd,
                        const struct sockaddr *address, bool by_tls);
/* Frees the peer; call it before the descriptor is closed. */
void peers_close(struct peers *peers, struct peer *peer);
/* Sets the deadline anew from now on. */
void peers_enter(struct peers *peers, struct peer *peer, enum peer_phase phase);

/* A request of this principal came on it: from now on the connection is the
 * principal's, and may end its oldest idle one. False: all that it may have
 * are in use, or the connection has been ended; nothing must be done for the
 * request. */
bool peers_claim(struct peers *peers, struct peer *peer, const char *principal);
/* Counts bytes of a body until the next phase begins. False, and not counted,
 * when its principal, or without one its address, has too many under way. */
bool peers_hold(struct peers *peers, struct peer *peer, size_t bytes);
/* What it held is free again: its body is refused. */
void peers_release(struct peers *peers, struct peer *peer);

/* Without the port, in numbers; "" for none. Until peers_close(). */
const char *peer_address(const struct peer *peer);
/* The name in its certificate, or "". Until peers_close(). */
const char *peer_certificate(const struct peer *peer);
int peer_fd(const struct peer *peer);
bool peer_is_by_tls(const struct peer *peer);

/* Shuts down the late ones. False when no connection is open and there is
 * nothing to be logged later. */
bool peers_tick(struct peers *peers, int64_t now_ms);

#endif
