/* logs.h - the log thread: sole owner of logs.db, so that no log byte ever
 * passes through the core.
 *
 * Chunks are stored by (study, trial, attempt, replica, stream, offset).
 * Storing one again changes nothing; one that leaves a gap is stored (the
 * middle of a long log is dropped on purpose). */
#ifndef HT_TUNER_LOGS_H
#define HT_TUNER_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/arena.h"
#include "proto/error.h"

struct logs;

struct log_key {
    int64_t study, trial, attempt;
    const char *replica; /* "master-0" */
    const char *stream;  /* "stdout", "stderr" or "runner" */
};

/* Is it one of the three? */
bool logs_has_stream(const char *stream);

enum ht_status logs_start(const char *path, struct logs **logs,
                          struct ht_error *err);
void logs_stop(struct logs *logs); /* stores what is queued; accepts NULL */

/* Queues one chunk (copied) of `raw_bytes` bytes of the stream. `done` is
 * called on the log thread after the commit with the next offset wanted, or
 * with a failed status. Any thread. */
typedef void log_done(void *context, enum ht_status status, int64_t next);
void logs_append(struct logs *logs, const struct log_key *key, int64_t offset,
                 int64_t raw_bytes, const char *data, size_t len,
                 log_done *done, void *context);

struct log_slice {
    const char *data; /* in the arena */
    size_t len;
    int64_t offset, next; /* of data's first byte and behind its last */
};
/* Reads up to `limit` bytes from `offset` (moved up to the first kept byte;
 * negative: that many bytes before the end). Any thread. */
enum ht_status logs_read(struct logs *logs, struct arena *arena,
                         const struct log_key *key, int64_t offset,
                         size_t limit, struct log_slice *slice,
                         struct ht_error *err);

/* Forgets a study's logs, in the background. */
void logs_forget(struct logs *logs, int64_t study);

#endif
