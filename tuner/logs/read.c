/* read.c - reads lines and bytes of trials' streams from logs.db. */

#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "tuner/db/db.h"
#include "tuner/logs/db_logs.h"
#include "tuner/logs/internal.h"
#include "tuner/logs/log_lines.h"
#include "tuner/logs/logs.h"

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Cuts a chunk to [from, from + limit) where bytes can be counted, at the
 * borders of characters but never to nothing; a chunk with replaced bytes
 * stays whole. */
static void cut_chunk(struct log_chunk *chunk, int64_t from, size_t limit)
{
    if ((size_t)chunk->raw != chunk->len)
        return;
    size_t skip = from > chunk->offset ? (size_t)(from - chunk->offset) : 0;
    while (skip > 0 && skip < chunk->len && is_continuation(chunk->data[skip]))
        skip++;
    size_t len = chunk->len - skip;
    if (len > limit) {
        len = limit;
        while (len > 0 && is_continuation(chunk->data[skip + len]))
            len--;
        len = len > 0 ? len : limit;
        while (is_continuation(chunk->data[skip + len]))
            len++;
    }
    chunk->offset += (int64_t)skip;
    chunk->data += skip;
    chunk->len = len;
    chunk->raw = (int64_t)len;
}

struct log_window {
    int64_t offset;
    size_t limit;
};

/* Locks the connection of all readers, whatever it returns. */
static enum ht_status begin_read(struct logs *logs, struct ht_error *err)
{
    memory_lock(&logs->read_lock);
    return logs->reader != NULL
               ? HT_OK
               : db_logs_open(logs->path, false, &logs->reader, err);
}

/* Damage here is not that of the studies, which HT_CORRUPT would say. */
static enum ht_status end_read(struct logs *logs, enum ht_status status,
                               const struct ht_error *err)
{
    memory_unlock(&logs->read_lock);
    if (status != HT_CORRUPT)
        return status;
    if (err != NULL)
        logs_note_damage(logs, err->text);
    return HT_IO;
}

static enum ht_status read_slice(struct logs *logs, struct arena *arena,
                                 const struct log_key *key,
                                 const struct log_window *window,
                                 struct log_slice *slice, struct ht_error *err)
{
    struct text joined = {0};
    struct log_chunk chunk = {0};
    int64_t start = -1, next = window->offset;
    enum ht_status status;
    for (;;) {
        status = db_logs_find(logs->reader, arena, key, next, &chunk, err);
        bool is_gap = start >= 0 && chunk.offset > next;
        if (status != HT_OK || is_gap)
            break;
        size_t room = window->limit - joined.len;
        if (start >= 0 && (size_t)chunk.raw != chunk.len && chunk.len > room)
            break;
        int64_t end = chunk.offset + chunk.raw;
        cut_chunk(&chunk, next, room);
        start = start < 0 ? chunk.offset : start;
        next = chunk.offset + chunk.raw;
        text_append(&joined, chunk.data, chunk.len);
        if (joined.len >= window->limit || next != end)
            break;
    }
    if (status == HT_OK || status == HT_NOT_FOUND) {
        slice->offset = start < 0 ? window->offset : start;
        slice->next = next;
        slice->len = joined.len;
        slice->data =
            arena_strndup(arena, joined.data ? joined.data : "", joined.len);
        status = HT_OK;
    }
    text_free(&joined);
    return status;
}

// NOLINTNEXTLINE(readability-function-size): the contract of logs.h
enum ht_status logs_read(struct logs *logs, struct arena *arena,
                         const struct log_key *key, int64_t offset,
                         size_t limit, struct log_slice *slice,
                         struct ht_error *err)
{
    enum ht_status status = begin_read(logs, err);
    if (status == HT_OK && offset < 0) {
        struct log_end end;
        status = db_logs_end(logs->reader, key, &end, err);
        offset =
            status == HT_OK && end.next + offset > 0 ? end.next + offset : 0;
    }
    if (status == HT_OK)
        status = read_slice(logs, arena, key,
                            &(struct log_window){offset, limit}, slice, err);
    return end_read(logs, status, err);
}

// NOLINTNEXTLINE(readability-function-size): the contract of logs.h
enum ht_status logs_next(struct logs *logs, struct arena *arena,
                         const struct log_key *key, int64_t offset,
                         struct log_piece *piece, struct ht_error *err)
{
    struct log_chunk chunk;
    enum ht_status status = begin_read(logs, err);
    if (status == HT_OK)
        status = db_logs_find(logs->reader, arena, key, offset, &chunk, err);
    status = end_read(logs, status, err);
    if (status != HT_OK)
        return status;
    cut_chunk(&chunk, offset, SIZE_MAX);
    *piece = (struct log_piece){.data = chunk.data,
                                .len = chunk.len,
                                .offset = chunk.offset,
                                .next = chunk.offset + chunk.raw,
                                .stored_us = chunk.stored_us};
    return HT_OK;
}

/* --- in the order in which they were stored --- */

enum ht_status logs_step(struct logs *logs, int64_t study,
                         const struct log_place *place, bool down,
                         struct log_head *head, struct ht_error *err)
{
    enum ht_status status = begin_read(logs, err);
    if (status == HT_OK)
        status = db_logs_step(logs->reader, study, place, down, head, err);
    return end_read(logs, status, err);
}

/* The text that is open before that end of the stream; less of it, and
 * end->open with it, when a part was removed to make room. */
static enum ht_status read_open(struct logs *logs, struct arena *arena,
                                const struct log_key *key, struct log_end *end,
                                const char **text, struct ht_error *err)
{
    const size_t len = (size_t)end->open;
    int64_t next = end->next;
    char *joined = arena_alloc(arena, len + 1, 1);
    struct arena *scratch = arena_new();
    enum ht_status status = HT_OK;
    for (size_t left = len; status == HT_OK && left > 0;) {
        struct log_chunk chunk;
        arena_reset(scratch);
        status = db_logs_before(logs->reader, scratch, key, next, &chunk, err);
        if (status == HT_NOT_FOUND ||
            (status == HT_OK && chunk.offset + chunk.raw != next)) {
            joined += left;
            end->open -= (int64_t)left;
            status = HT_OK;
            break;
        }
        if (status != HT_OK)
            break;
        const size_t n = chunk.len < left ? chunk.len : left;
        left -= n;
        memcpy(joined + left, chunk.data + chunk.len - n, n);
        next = chunk.offset;
    }
    arena_free(scratch);
    if (status == HT_OK)
        *text = joined;
    return status;
}

/* Whether any line ends in the text, so that its beginning is needed. */
static bool ends_line(const struct log_text *text, size_t open)
{
    struct log_lines lines = {
        .data = text->data, .len = text->len, .open = open};
    size_t len;
    return log_lines_next(&lines, &len);
}

static enum ht_status read_text(struct logs *logs, struct arena *arena,
                                const struct log_key *key,
                                const struct log_head *head,
                                struct log_text *text, struct ht_error *err)
{
    struct log_chunk chunk, before = {0};
    struct log_text read = {.open = ""};
    enum ht_status status =
        db_logs_data(logs->reader, arena, head->place.row, &chunk, err);
    if (status == HT_OK) {
        status =
            db_logs_before(logs->reader, arena, key, head->start, &before, err);
        status = status == HT_NOT_FOUND ? HT_OK : status;
    }
    if (status != HT_OK)
        return status;
    read.data = chunk.data;
    read.len = chunk.len;
    read.gap = head->start - (before.offset + before.raw);
    if (before.open > 0 &&
        (read.gap > 0 || ends_line(&read, (size_t)before.open))) {
        struct log_end end = {before.offset + before.raw, before.open};
        status = read_open(logs, arena, key, &end, &read.open, err);
        before.open = end.open;
    }
    read.open_len = (size_t)before.open;
    if (status == HT_OK)
        *text = read;
    return status;
}

enum ht_status logs_text(struct logs *logs, struct arena *arena, int64_t study,
                         const struct log_head *head, struct log_text *text,
                         struct ht_error *err)
{
    const struct log_key key = {study, head->trial, head->attempt,
                                head->replica, head->stream};
    enum ht_status status = begin_read(logs, err);
    if (status == HT_OK)
        status = read_text(logs, arena, &key, head, text, err);
    return end_read(logs, status, err);
}

static enum ht_status add_tail(struct logs *logs, struct arena *arena,
                               const struct log_key *key,
                               struct log_tails *tails, struct ht_error *err)
{
    struct log_end end;
    const char *line;
    enum ht_status status = db_logs_end(logs->reader, key, &end, err);
    if (status != HT_OK || end.open == 0)
        return status;
    status = read_open(logs, arena, key, &end, &line, err);
    if (status != HT_OK)
        return status;
    tails->items = db_grow(arena, tails->items, tails->n, sizeof *tails->items);
    tails->items[tails->n++] =
        (struct log_tail){key->replica, key->stream, line, (size_t)end.open};
    return HT_OK;
}

// NOLINTNEXTLINE(readability-function-size): the contract of logs.h
enum ht_status logs_tails(struct logs *logs, struct arena *arena, int64_t study,
                          int64_t trial, int64_t attempt,
                          struct log_tails *tails, struct ht_error *err)
{
    struct log_key key = {study, trial, attempt, "", ""};
    struct log_tails found = {0};
    enum ht_status status = begin_read(logs, err);
    while (status == HT_OK) {
        status = db_logs_stream(logs->reader, arena, &key, err);
        if (status == HT_OK)
            status = add_tail(logs, arena, &key, &found, err);
    }
    status = end_read(logs, status, err);
    if (status != HT_NOT_FOUND)
        return status;
    *tails = found;
    return HT_OK;
}
