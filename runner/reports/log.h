/* log.h - sends the stdout and stderr of a replica to the server, with secrets
 * masked: read from the segments that a shim wrote, and searched for the last
 * line. */
#ifndef HT_RUNNER_REPORTS_LOG_H
#define HT_RUNNER_REPORTS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "runner/base/order.h"

/* ---- the segments as one stream ---- */

/* A shim leaves no more bytes than this; a trial may make segments, too. */
enum { LOG_SOURCE_KEPT = (HT_LOG_SEGMENTS + 1) * HT_LOG_SEGMENT };

/* A place in a stream; one thread. */
struct log_source {
    const char *folder; /* of the replica; borrowed */
    const char *stream; /* "stdout", "stderr", "runner" */
    int64_t offset;     /* of the next byte wanted */
};

/* Copies up to `size` bytes from the offset on and moves it behind them. When
 * those bytes were removed, the offset first moves to the next that were kept.
 * *at is the offset of the first byte. Returns 0 when there are none yet. */
size_t log_source_read(struct log_source *source, char *buffer, size_t size,
                       int64_t *at);

/* ---- sent to the server ----
 *
 * In chunks of valid UTF-8, without values of secrets. What was sent is not
 * kept here: after a restart the first chunk is sent again, and the server's
 * answer has the offset to continue from. */
struct log_secrets { /* values that no log may show; zeroed: none */
    size_t n;
    char **pieces; /* their lines; owned */
    bool loaded;
};

/* How much of a stream the server has; one thread. */
struct log_ship {
    struct log_source source;
    const struct order *order;
    const char *credentials;
    struct log_secrets secrets;
    int64_t sent_ms; /* monotonic time of the last chunk */
    int64_t late;    /* bytes sent since the writer died */
    bool done;       /* the stream has ended and all of it was confirmed */
};

/* A piece of the stream that was sent and awaits its answer. */
struct log_chunk {
    int64_t offset; /* of its first byte */
    int64_t bytes;  /* raw length */
};

/* All is borrowed; `order` may be NULL: nothing is secret. `credentials` is the
 * path of the attempt's copy, which need not exist. */
void log_ship_init(struct log_ship *ship, const struct order *order,
                   const char *folder, const char *stream,
                   const char *credentials);
/* Frees the secrets. */
void log_ship_fini(struct log_ship *ship);

/* Appends the next chunk's text to `out`: about `most` bytes of the stream, and
 * more where a secret would be cut. Small chunks wait a moment for more. With
 * `final` the writer has ended. False when there is nothing to send now. */
bool log_ship_next(struct log_ship *ship, int64_t now, bool final, size_t most,
                   struct log_chunk *chunk, struct text *out);

/* The server answered the chunk and wants the byte at `wanted` next: one inside
 * the chunk when it had a part already and did not store the rest. Anything up
 * to the chunk's first byte skips the chunk. */
void log_ship_confirm(struct log_ship *ship, const struct log_chunk *chunk,
                      int64_t wanted);

/* ---- the last line ----
 *
 * The last line of stderr is most often the trainer's message about the cause
 * of its end. */

enum {
    LOG_LAST_LINE_CHARACTERS = 200, /* with the ellipsis of one that was cut */
    LOG_LAST_LINE_BYTES = 360 /* fits HT_MAX_REASON with the words around */
};

/* Appends the last line that has a letter, a digit or anything beyond ASCII:
 * valid UTF-8 without control sequences of terminals, secrets masked as in
 * logs. Nothing when there is none near the end of the stream, or when the
 * replica's secrets cannot be read any more. `credentials` is as above. Call it
 * once the stream has ended. */
void log_last_line(const struct order *order, const char *replica_folder,
                   const char *credentials, struct text *out);

#endif
