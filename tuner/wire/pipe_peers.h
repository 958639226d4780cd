/* pipe_peers.h - the connections of one socket of nng: who is behind each, and
 * which one ends when there are too many.
 *
 * Noted when nng accepts it, since a client may have gone when its message is
 * read. A number is never given to a second connection, so what is known stays
 * right after its end, and the last ones that ended are kept. Any thread. */
#ifndef HT_TUNER_WIRE_PIPE_PEERS_H
#define HT_TUNER_WIRE_PIPE_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/core/principal.h"

struct pipe_peers;

/* `most` connections at once, of one address as many as the budget `pipes`
 * allows (of IPv6, one network /64). */
struct pipe_peers *pipe_peers_new(size_t most);
void pipe_peers_free(struct pipe_peers *peers); /* accepts NULL */

/* A connection has begun; `certificate`: the name in its client's, or "".
 * Returns the one that must be closed for it, the oldest without an accepted
 * message: of its address, or of all where all are too many; itself when there
 * is none; 0 when it fits. */
uint32_t pipe_peers_begin(struct pipe_peers *peers, uint32_t pipe,
                          const char *address, const char *certificate);
/* A message of it was accepted. */
void pipe_peers_prove(struct pipe_peers *peers, uint32_t pipe);
void pipe_peers_end(struct pipe_peers *peers, uint32_t pipe);
/* Writes peer and certificate of `from`. False: it ended long ago. */
bool pipe_peers_find(struct pipe_peers *peers, uint32_t pipe,
                     struct principal *from);

#endif
