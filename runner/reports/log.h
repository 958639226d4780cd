/* log.h - the log streams of a replica: read as one from the segments that a
 * shim wrote, sent to the server, and searched for the last line. */
#ifndef HT_RUNNER_REPORTS_LOG_H
#define HT_RUNNER_REPORTS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "runner/base/order.h"
#include "runner/reports/masked_secrets.h"

/* ---- the segments as one stream ---- */

/* More than this is not what a shim that has ended left behind: a trial may
 * have made segments of its own, without end. */
enum { LOG_SOURCE_KEPT = (HT_LOG_SEGMENTS + 1) * HT_LOG_SEGMENT };

struct log_source {
    const char *folder; /* of the replica; borrowed */
    const char *stream; /* "stdout", "stderr", "runner" */
    int64_t offset;     /* of the next byte wanted */
};

/* Copies up to `size` bytes from the offset on and moves it behind them. When
 * those bytes were dropped, the offset first moves to the next kept ones.
 * *at is the place of the first byte. Returns 0 when there are none yet. */
size_t log_source_read(struct log_source *source, char *buffer, size_t size,
                       int64_t *at);

/* ---- on its way to the server ----
 *
 * In chunks of valid UTF-8, values of secrets blanked out. What was sent is
 * known to the server alone: after a restart the first chunk is sent again, and
 * the answer says where to continue. */
struct log_ship {
    struct log_source source;
    const struct order *order;
    const char *credentials;
    struct masked_secrets secrets;
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

/* ---- the last line ----
 *
 * What a replica left on stderr last most often is the cause of its end in the
 * trainer's own words. */

enum {
    LOG_LAST_LINE_CHARACTERS = 200, /* with the ellipsis of one that was cut */
    LOG_LAST_LINE_BYTES = 360 /* fits HT_MAX_REASON with the words around */
};

/* Appends the last line that has a letter, a digit or anything beyond ASCII:
 * valid UTF-8 without the commands of terminals, secrets blanked as in logs.
 * Nothing when there is none near the end of the stream, or when the replica's
 * secrets are not known any more. `credentials` is the attempt's copy (see
 * masked_secrets.h). To be asked once the stream has ended. */
void log_last_line(const struct order *order, const char *replica_folder,
                   const char *credentials, struct text *out);

#endif
