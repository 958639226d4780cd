/* peers.h - open connections and the time limit of each phase.
 *
 * libmicrohttpd's timeout is per activity, so a client with one byte a second
 * would never end; here every phase of a request has a limit. A late connection
 * is shut down under the lock that its closing takes, so its descriptor cannot
 * belong to another one yet. */
#ifndef HT_TUNER_HTTP_PEERS_H
#define HT_TUNER_HTTP_PEERS_H

#include <stdbool.h>
#include <stdint.h>

enum peer_phase {
    PEER_HEADERS, /* new: headers are due in 10 s */
    PEER_BODY,    /* the body in 30 s */
    PEER_WORK,    /* we work: no deadline here */
    PEER_ANSWER,  /* the answer has to be read in 60 s */
    PEER_IDLE,    /* kept alive: the next headers in 60 s */
};

struct peers;
struct peer;
struct sockaddr;

/* No connection; peers_free() only after each was closed. */
struct peers *peers_new(void);
void peers_free(struct peers *peers); /* all closed; accepts NULL */

/* A new connection, due to send its headers; end it with peers_close();
 * `address` may be NULL. Any thread, as all that follow. */
struct peer *peers_open(struct peers *peers, int fd,
                        const struct sockaddr *address);
/* Frees the peer; call it before the descriptor is closed. */
void peers_close(struct peers *peers, struct peer *peer);
/* Sets the deadline anew from now on. */
void peers_enter(struct peers *peers, struct peer *peer, enum peer_phase phase);

/* Without the port, in numbers; "" for none. Until peers_close(). */
const char *peer_address(const struct peer *peer);

/* Shuts down the late ones. False when no connection is open. */
bool peers_tick(struct peers *peers, int64_t now_ms);

#endif
