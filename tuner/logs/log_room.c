#include "tuner/logs/log_room.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "tuner/base/budget.h"
#include "tuner/logs/db_logs.h"

enum { SLOTS = 256 };

/* What is known of a stream, so that not all of its chunks are looked at for
 * each new one. */
struct slot {
    int64_t study, trial, attempt;
    char replica[HT_MAX_NAME + 1], stream[8];
    int64_t bytes; /* of the chunks up to `next` */
    int64_t next;  /* behind the last chunk that is counted */
    int64_t head;  /* behind the last chunk of the first half */
    bool head_is_full;
};

struct log_room {
    struct slot slots[SLOTS];
};

struct log_room *log_room_new(void)
{
    return ht_xcalloc(1, sizeof(struct log_room));
}

void log_room_free(struct log_room *room)
{
    free(room);
}

void log_room_forget(struct log_room *room)
{
    memset(room, 0, sizeof *room);
}

static bool is_of(const struct slot *slot, const struct log_key *key)
{
    return slot->study == key->study && slot->trial == key->trial &&
           slot->attempt == key->attempt &&
           strcmp(slot->replica, key->replica) == 0 &&
           strcmp(slot->stream, key->stream) == 0;
}

/* Streams may share a slot: then each is counted anew. */
static struct slot *slot_of(struct log_room *room, const struct log_key *key)
{
    uint64_t hash = (uint64_t)key->study * 31 + (uint64_t)key->trial;
    hash = hash * 31 + (uint64_t)key->attempt;
    for (const char *c = key->replica; *c != '\0'; c++)
        hash = hash * 31 + (unsigned char)*c;
    hash = hash * 31 + (unsigned char)key->stream[3]; /* out, err, runner */
    struct slot *slot = &room->slots[hash % SLOTS];
    if (is_of(slot, key))
        return slot;
    *slot = (struct slot){
        .study = key->study, .trial = key->trial, .attempt = key->attempt};
    snprintf(slot->replica, sizeof slot->replica, "%s", key->replica);
    snprintf(slot->stream, sizeof slot->stream, "%s", key->stream);
    return slot;
}

/* The first half ends before a gap, so that there is one gap at most. */
static void count(struct slot *slot, const struct log_size *size)
{
    const bool fits =
        slot->bytes + size->bytes <= budget_of(BUDGET_LOG_BYTES) / 2;
    slot->head_is_full |= !fits || size->start != slot->head;
    if (!slot->head_is_full)
        slot->head = size->next;
    slot->bytes += size->bytes;
    slot->next = size->next;
}

/* Removes the first chunk behind the head, but never the last one. */
static enum ht_status drop_one(struct slot *slot, struct db *db,
                               const struct log_key *key, bool *dropped,
                               struct ht_error *err)
{
    struct log_size size;
    enum ht_status status = db_logs_size(db, key, slot->head, &size, err);
    *dropped = status == HT_OK && size.next < slot->next;
    if (!*dropped)
        return status;
    slot->bytes -= size.bytes;
    budget_exceeded(BUDGET_LOG_BYTES);
    return db_logs_drop(db, key, size.next, err);
}

enum ht_status log_room_make(struct log_room *room, struct db *db,
                             const struct log_key *key, struct ht_error *err)
{
    struct slot *slot = slot_of(room, key);
    struct log_size size;
    enum ht_status status;
    while ((status = db_logs_size(db, key, slot->next, &size, err)) == HT_OK)
        count(slot, &size);
    if (status == HT_NOT_FOUND)
        status = HT_OK;
    bool dropped = true;
    while (status == HT_OK && dropped &&
           slot->bytes > budget_of(BUDGET_LOG_BYTES))
        status = drop_one(slot, db, key, &dropped, err);
    return status;
}
