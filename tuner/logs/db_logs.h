/* db_logs.h - the rows of logs.db: what trials printed, by offset.
 *
 * A connection belongs to one thread at a time. */
#ifndef HT_TUNER_LOGS_DB_LOGS_H
#define HT_TUNER_LOGS_DB_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/logs/logs.h"

struct db;

/* Opens (`writable`: and creates or migrates) the file.
 * HT_PRECONDITION  newer or older than this program reads, or another's file
 * HT_IO            it cannot be opened */
enum ht_status db_logs_open(const char *path, bool writable, struct db **db,
                            struct ht_error *err);

/* A stored piece of a stream: `raw` bytes of it from `offset`, as text. */
struct log_chunk {
    int64_t offset, raw;
    const char *data;
    size_t len;        /* of data; differs from raw where bytes were replaced */
    int64_t open;      /* of the stream's end behind it, as in struct log_end */
    int64_t stored_us; /* since 1970 */
};

/* Where a stream ends; zeros without a chunk. */
struct log_end {
    int64_t next; /* the offset behind the newest chunk */
    int64_t open; /* bytes of text of its unfinished line, see log_lines.h */
};
enum ht_status db_logs_end(struct db *db, const struct log_key *key,
                           struct log_end *end, struct ht_error *err);
enum ht_status db_logs_insert(struct db *db, const struct log_key *key,
                              const struct log_chunk *chunk, int64_t stored_us,
                              struct ht_error *err);
/* A chunk's place and what it takes of the file, without its data. */
struct log_size {
    int64_t start, next, bytes;
};
/* The first chunk of the stream that begins at `start` or behind;
 * HT_NOT_FOUND without one. */
enum ht_status db_logs_size(struct db *db, const struct log_key *key,
                            int64_t start, struct log_size *size,
                            struct ht_error *err);
/* A chunk with all that belongs to it. */
struct log_row {
    int64_t id;
    struct log_key key;
    struct log_chunk chunk;
};
/* The first one behind that id; HT_NOT_FOUND without one. */
enum ht_status db_logs_next(struct db *db, struct arena *arena, int64_t id,
                            struct log_row *row, struct ht_error *err);
/* Removes the chunk that ends at `next`. */
enum ht_status db_logs_drop(struct db *db, const struct log_key *key,
                            int64_t next, struct ht_error *err);
/* What a chunk with `len` bytes of text takes of the file. */
int64_t db_logs_bytes(size_t len);
/* The stamp of the newest chunk of all, 0 without one. */
enum ht_status db_logs_newest(struct db *db, int64_t *stored_us,
                              struct ht_error *err);
/* The first chunk that ends behind `offset`; HT_NOT_FOUND without one. */
enum ht_status db_logs_find(struct db *db, struct arena *arena,
                            const struct log_key *key, int64_t offset,
                            struct log_chunk *chunk, struct ht_error *err);
/* The nearest chunk that ends at `next` or before; HT_NOT_FOUND without one. */
enum ht_status db_logs_before(struct db *db, struct arena *arena,
                              const struct log_key *key, int64_t next,
                              struct log_chunk *chunk, struct ht_error *err);
/* As logs_step(). */
enum ht_status db_logs_step(struct db *db, int64_t study,
                            const struct log_place *place, bool down,
                            struct log_head *head, struct ht_error *err);
enum ht_status db_logs_data(struct db *db, struct arena *arena, int64_t row,
                            struct log_chunk *chunk, struct ht_error *err);
/* The attempt's next stream behind key->replica and key->stream, which it
 * replaces; HT_NOT_FOUND without one. */
enum ht_status db_logs_stream(struct db *db, struct arena *arena,
                              struct log_key *key, struct ht_error *err);
/* Removes at most `limit` chunks of a study; *removed: how many. */
enum ht_status db_logs_remove(struct db *db, int64_t study, int64_t limit,
                              int64_t *removed, struct ht_error *err);

#endif
