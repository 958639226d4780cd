/* log_ship.h - one log stream of a replica on its way to the server, in chunks
 * of valid UTF-8, values of secrets blanked out.
 *
 * What was sent is known to the server alone: after a restart the first chunk
 * is sent again, and the answer says where to go on. */
#ifndef HT_RUNNER_REPORTS_LOG_SHIP_H
#define HT_RUNNER_REPORTS_LOG_SHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "runner/base/order.h"
#include "runner/reports/log_source.h"
#include "runner/reports/masked_secrets.h"

struct log_ship {
    struct log_source source;
    const struct order *order;
    const char *credentials;
    struct masked_secrets hidden;
    int64_t sent_ms; /* monotonic time of the last chunk */
    int64_t late;    /* bytes sent since the writer died */
    bool done;       /* the stream has ended and all of it was confirmed */
};

struct log_chunk {
    int64_t offset; /* of its first byte */
    int64_t bytes;  /* raw length */
};

/* Everything is borrowed; `order` may be NULL: nothing is secret. `credentials`
 * is where the attempt's copy of those may lie. */
void log_ship_init(struct log_ship *ship, const struct order *order,
                   const char *folder, const char *stream,
                   const char *credentials);
void log_ship_fini(struct log_ship *ship);

/* Appends the next chunk's text to `out`. Small chunks are held back for a
 * moment to travel together. With `final` the writer is dead. False when there
 * is nothing to send now. */
bool log_ship_next(struct log_ship *ship, int64_t now, bool final,
                   struct log_chunk *chunk, struct text *out);

/* The server stored the chunk and wants the byte at `wanted` next. */
void log_ship_confirm(struct log_ship *ship, const struct log_chunk *chunk,
                      int64_t wanted);

#endif
