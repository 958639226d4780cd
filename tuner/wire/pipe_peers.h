/* pipe_peers.h - who is behind each connection of nng that the relay made.
 *
 * Noted when nng accepts it, since a client may have gone when its message is
 * read. A number is never given to a second connection, so what is known stays
 * right after its end, and the last ones that ended are kept. */
#ifndef HT_TUNER_WIRE_PIPE_PEERS_H
#define HT_TUNER_WIRE_PIPE_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "tuner/core/principal.h"

struct pipe_peers;

struct pipe_peers *pipe_peers_new(void);
void pipe_peers_free(struct pipe_peers *peers); /* accepts NULL */

/* A connection has begun or ended. Any thread, as below. */
void pipe_peers_note(struct pipe_peers *peers, uint32_t pipe,
                     const char *address);
void pipe_peers_end(struct pipe_peers *peers, uint32_t pipe);
/* False: none of the relay, or it ended long ago. */
bool pipe_peers_find(struct pipe_peers *peers, uint32_t pipe,
                     char address[PRINCIPAL_PEER_BYTES]);

#endif
