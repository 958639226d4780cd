#include "runner/base/json_stream.h"

#include <string.h>

#include "proto/base/limits.h"

void json_stream_fini(struct json_stream *stream)
{
    text_free(&stream->item);
}

bool json_stream_is_whole(const struct json_stream *stream)
{
    return stream->depth == 0;
}

/* Follows the nesting; whether the item is JSON at all, its reader tells. */
static void count(struct json_stream *stream, char byte)
{
    if (stream->in_text) {
        const bool escape = byte == '\\' && !stream->escaped;
        if (byte == '"' && !stream->escaped)
            stream->in_text = false;
        stream->escaped = escape;
        return;
    }
    stream->in_text = byte == '"';
    stream->depth += byte == '{' || byte == '[';
    stream->depth -= byte == '}' || byte == ']';
}

static enum json_stream_end hand_over(struct json_stream *stream,
                                      json_stream_take *take, void *context)
{
    struct arena *arena = arena_new();
    struct diag diag;
    diag_init(&diag, arena, "stream", NULL, 0);
    const struct node *item =
        node_read_json(arena, stream->item.data, stream->item.len, &diag);
    enum json_stream_end end = JSON_STREAM_BROKEN;
    if (item != NULL)
        end = take(context, item) ? JSON_STREAM_GOES_ON : JSON_STREAM_LEFT;
    arena_free(arena);
    text_clear(&stream->item);
    return end;
}

/* The number of bytes that belong to the item that is open. */
static size_t find_end(struct json_stream *stream, const char *bytes,
                       size_t len)
{
    size_t n = 0;
    do {
        count(stream, bytes[n++]);
    } while (n < len && stream->depth > 0);
    return n;
}

enum json_stream_end json_stream_feed(struct json_stream *stream,
                                      const char *bytes, size_t len,
                                      json_stream_take *take, void *context)
{
    while (len > 0) {
        if (stream->depth == 0 && strchr(" \t\r\n", *bytes) != NULL &&
            *bytes != '\0') {
            bytes++;
            len--;
            continue;
        }
        if (stream->depth == 0 && *bytes != '{')
            return JSON_STREAM_BROKEN;
        const size_t n = find_end(stream, bytes, len);
        if (stream->item.len + n > HT_MAX_SPEC)
            return JSON_STREAM_BROKEN;
        text_append(&stream->item, bytes, n);
        bytes += n;
        len -= n;
        if (stream->depth > 0)
            continue;
        const enum json_stream_end end = hand_over(stream, take, context);
        if (end != JSON_STREAM_GOES_ON)
            return end;
    }
    return JSON_STREAM_GOES_ON;
}
