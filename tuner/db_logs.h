/* db_logs.h - the rows of logs.db: what trials printed, by offset.
 *
 * One struct db_logs is one connection and belongs to one thread at a time. */
#ifndef HT_TUNER_DB_LOGS_H
#define HT_TUNER_DB_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/arena.h"
#include "proto/error.h"
#include "tuner/logs.h"

struct db_logs;

/* Opens (`writable`: and creates or migrates) the file.
 * HT_PRECONDITION  newer than this program, or not a log file of ours
 * HT_IO            it cannot be opened */
enum ht_status db_logs_open(const char *path, bool writable,
                            struct db_logs **logs, struct ht_error *err);
void db_logs_close(struct db_logs *logs); /* accepts NULL */

enum ht_status db_logs_begin(struct db_logs *logs, struct ht_error *err);
enum ht_status db_logs_commit(struct db_logs *logs, struct ht_error *err);
void db_logs_rollback(struct db_logs *logs);

/* A stored piece of a stream: `raw` bytes of it from `offset`, as text. */
struct log_chunk {
    int64_t offset, raw;
    const char *data;
    size_t len; /* of data; differs from raw where bytes were replaced */
};

/* The offset behind the newest chunk, 0 without one. */
enum ht_status db_logs_next(struct db_logs *logs, const struct log_key *key,
                            int64_t *next, struct ht_error *err);
enum ht_status db_logs_insert(struct db_logs *logs, const struct log_key *key,
                              const struct log_chunk *chunk,
                              struct ht_error *err);
/* The first chunk that ends behind `offset`; HT_NOT_FOUND without one. */
enum ht_status db_logs_find(struct db_logs *logs, struct arena *arena,
                            const struct log_key *key, int64_t offset,
                            struct log_chunk *chunk, struct ht_error *err);
/* Removes at most `limit` chunks of a study; *removed tells how many. */
enum ht_status db_logs_remove(struct db_logs *logs, int64_t study,
                              int64_t limit, int64_t *removed,
                              struct ht_error *err);

#endif
