/* log_room.h - how much of each stream is kept: its first bytes and its newest
 * ones, together at most the budget log-bytes. One thread. */
#ifndef HT_TUNER_LOGS_LOG_ROOM_H
#define HT_TUNER_LOGS_LOG_ROOM_H

#include "proto/base/error.h"
#include "tuner/logs/logs.h"

struct db;
struct log_room;

struct log_room *log_room_new(void);
void log_room_free(struct log_room *room); /* accepts NULL */

/* The stream has a new chunk, the last one: removes others behind its first
 * half as far as the budget demands. In the caller's transaction; after a
 * rollback log_room_forget() is due. */
enum ht_status log_room_make(struct log_room *room, struct db *db,
                             const struct log_key *key, struct ht_error *err);
/* Forgets what it knows of all streams: the file is asked again. */
void log_room_forget(struct log_room *room);

#endif
