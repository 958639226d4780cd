/* pace.h - how many bytes one message has on a link that may be slow or cut
 * connections.
 *
 * Messages grow while answers come soon. After silence or a cut the next one
 * has as little as possible: its answer also says whether the message before
 * was stored, whose answer was lost then. If it was not, half of its size is
 * the aim, and growth beyond that goes in steps. libc only: it is a part of
 * libhypertune. */
#ifndef HT_PROTO_BASE_PACE_H
#define HT_PROTO_BASE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pace {         /* bytes; one link; one thread */
    size_t batch;     /* most of the next message; 0: one record alone */
    size_t most;      /* of any message */
    size_t threshold; /* of batch: doubled below, in steps from here on */
    size_t failed;    /* first message without an answer; 0: none */
};

void pace_init(struct pace *pace, size_t most);

/* A message of `len` bytes got no answer, or its connection was cut. */
void pace_failed(struct pace *pace, size_t len);

/* One of `len` bytes was answered `ms` after it was sent. `stored`: the answer
 * also says that the message which failed before was stored. */
void pace_answered(struct pace *pace, size_t len, bool stored, int64_t ms);

#endif
