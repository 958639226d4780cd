/* logs.h - the log thread: sole owner of logs.db, so that log data never pass
 * through the core.
 *
 * Chunks are stored by (study, trial, attempt, replica, stream, offset).
 * Storing one again changes nothing; one that leaves a gap is stored (the
 * middle of a long log is dropped on purpose).
 *
 * Each is stamped when it is stored, later than all before it, so that a reader
 * that has read up to a moment finds all later ones. */
#ifndef HT_TUNER_LOGS_LOGS_H
#define HT_TUNER_LOGS_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/limits.h"

struct logs;

enum { LOGS_DAMAGE_BYTES = 256 };

/* Names one stream. */
struct log_key {
    int64_t study, trial, attempt;
    const char *replica; /* "master-0" */
    const char *stream;  /* "stdout", "stderr" or "runner" */
};

/* Whether it is one of the three. */
bool logs_has_stream(const char *stream);

/* Opens (creating or migrating) the file, with the errors of db_logs_open(),
 * and starts the thread; HT_IO also when that fails. The caller ends both with
 * logs_stop(). */
enum ht_status logs_start(const char *path, struct logs **logs,
                          struct ht_error *err);
/* Stores what is queued, calling each `done`, and frees all. Blocks until
 * then; no other thread may use the logs any more. Accepts NULL. */
void logs_stop(struct logs *logs);

/* Queues one chunk (copied) of `raw_bytes` bytes of the stream; does not wait
 * for the disk. `done` is called once: on the log thread after the commit with
 * the next offset wanted, or with a failed status. When 32 MiB wait already,
 * or the thread is stopping, it is called with HT_UNAVAILABLE on the caller's
 * thread, before this returns. Any thread. */
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

/* A chunk of a stream, or what is left of it. */
struct log_piece {
    const char *data; /* in the arena */
    size_t len;
    int64_t offset, next; /* as in struct log_slice */
    int64_t stored_us;    /* when it came, since 1970 */
};
/* The next chunk from `offset` on; piece->offset differs from `offset` where
 * bytes of the stream are missing. HT_NOT_FOUND: the stream has no more. Any
 * thread. */
enum ht_status logs_next(struct logs *logs, struct arena *arena,
                         const struct log_key *key, int64_t offset,
                         struct log_piece *piece, struct ht_error *err);

/* --- chunks in the order in which they were stored --- */

/* A moment and, among chunks of before there were stamps, which share one, a
 * row. */
struct log_place {
    int64_t stored_us; /* since 1970 */
    int64_t row;
};

/* A chunk without its data. */
struct log_head {
    struct log_place place;
    int64_t trial, attempt;
    char replica[HT_MAX_NAME + 1], stream[8];
    int64_t start, next; /* in bytes of the stream */
};

/* The study's first chunk from `place` on, or (`down`) its last one up to it;
 * HT_NOT_FOUND without one. Any thread. */
enum ht_status logs_step(struct logs *logs, int64_t study,
                         const struct log_place *place, bool down,
                         struct log_head *head, struct ht_error *err);

/* What a chunk completes. */
struct log_text {
    const char *data; /* the chunk itself */
    size_t len;
    const char *open; /* the unfinished line before it */
    size_t open_len;
    int64_t gap; /* bytes of the stream that are missing between the two; the
                    line ended with them */
};
/* Texts are in the arena. HT_NOT_FOUND: the chunk was removed since it was
 * found. Any thread. */
enum ht_status logs_text(struct logs *logs, struct arena *arena, int64_t study,
                         const struct log_head *head, struct log_text *text,
                         struct ht_error *err);

/* The last line of a stream, which no line feed ended. */
struct log_tail {
    const char *replica, *stream;
    const char *data;
    size_t len;
};
struct log_tails {
    size_t n;
    struct log_tail *items;
};
/* Those of an attempt (its streams that end with such a line). */
enum ht_status logs_tails(struct logs *logs, struct arena *arena, int64_t study,
                          int64_t trial, int64_t attempt,
                          struct log_tails *tails, struct ht_error *err);

/* The stamp of a chunk stored at `wall_us` when the newest one has `last_us`:
 * later by a microsecond at least. When the clock was set back by more than an
 * hour it is followed at once, since entries of the future are never shown. */
int64_t logs_stamp(int64_t last_us, int64_t wall_us);

/* What was found damaged in logs.db first since the server began; "": nothing.
 * Chunks on damaged pages are HT_IO, all others are read as before. A page
 * that storing needs sets the file aside, see set_aside.h. Any thread. */
void logs_damage(struct logs *logs, char why[LOGS_DAMAGE_BYTES]);

/* Removes a study's logs, in the background. */
void logs_forget(struct logs *logs, int64_t study);

#endif
