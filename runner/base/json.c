#include "runner/base/json.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/quote.h"

/* ---- writing ---- */

/* The first value in a bracket has no comma; before a line feed the caller has
 * put it. */
static void begin_value(struct text *out, const char *key)
{
    if (out->len > 0 && strchr("{[\n", out->data[out->len - 1]) == NULL)
        text_puts(out, ",");
    if (key == NULL)
        return;
    quote_json(out, key);
    text_puts(out, ":");
}

void json_put_raw(struct text *out, const char *key, const char *json)
{
    begin_value(out, key);
    text_puts(out, json);
}

void json_open(struct text *out, const char *key)
{
    json_put_raw(out, key, "{");
}

void json_close(struct text *out)
{
    text_puts(out, "}");
}

void json_open_list(struct text *out, const char *key)
{
    json_put_raw(out, key, "[");
}

void json_close_list(struct text *out)
{
    text_puts(out, "]");
}

void json_put_int(struct text *out, const char *key, int64_t value)
{
    begin_value(out, key);
    text_printf(out, "%lld", (long long)value);
}

void json_put_bool(struct text *out, const char *key, bool value)
{
    json_put_raw(out, key, value ? "true" : "false");
}

void json_put_string(struct text *out, const char *key, const char *value)
{
    begin_value(out, key);
    if (value != NULL)
        quote_json(out, value);
    else
        text_puts(out, "null");
}

void json_put_strings(struct text *out, const char *key,
                      const struct strings *values)
{
    json_open_list(out, key);
    for (size_t i = 0; i < values->n; i++)
        json_put_string(out, NULL, values->items[i]);
    json_close_list(out);
}

/* ---- reading ---- */

const struct node *json_read(struct arena *arena, const char *text, size_t len)
{
    struct diag diag;
    diag_init(&diag, arena, "text", NULL, 0);
    return len > 0 ? node_read_json(arena, text, len, &diag) : NULL;
}

const struct node *json_read_map(struct arena *arena, const char *text,
                                 size_t len)
{
    const struct node *root = json_read(arena, text, len);
    return root != NULL && root->kind == NODE_MAP ? root : NULL;
}

/* A list that may be absent. */
static bool is_list(const struct node *list, size_t most)
{
    return list == NULL || list->kind == NODE_NULL ||
           (list->kind == NODE_LIST && list->count <= most);
}

bool json_read_strings(struct arena *arena, const struct node *list,
                       size_t most, struct strings *strings)
{
    if (!is_list(list, most))
        return false;
    const char **items = NULL;
    size_t n = 0;
    NODE_EACH (item, node_items(list)) {
        items = arena_grow(arena, items, n, sizeof *items);
        items[n] = node_string(item);
        if (items[n++] == NULL)
            return false;
    }
    *strings = (struct strings){.n = n, .items = items};
    return true;
}

bool json_read_pairs(struct arena *arena, const struct node *list, size_t most,
                     struct pairs *pairs)
{
    if (!is_list(list, most))
        return false;
    struct pair *items = NULL;
    size_t n = 0;
    NODE_EACH (item, node_items(list)) {
        if (item->kind != NODE_LIST || item->count != 2)
            return false;
        items = arena_grow(arena, items, n, sizeof *items);
        items[n] = (struct pair){.name = node_string(item->first),
                                 .value = node_string(item->first->next)};
        if (items[n].name == NULL || items[n].value == NULL)
            return false;
        n++;
    }
    *pairs = (struct pairs){.n = n, .items = items};
    return true;
}

int json_find_word(const struct node *map, const char *key,
                   const char *const words[], int n)
{
    const char *word = node_get_string(map, key, "");
    while (--n >= 0 && strcmp(words[n], word) != 0)
        continue;
    return n;
}

/* ---- streams of objects ---- */

void json_stream_fini(struct json_stream *stream)
{
    text_free(&stream->item);
}

bool json_stream_is_whole(const struct json_stream *stream)
{
    return stream->depth == 0;
}

/* Follows the nesting; the reader of the item checks its syntax. */
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
    const struct node *item =
        json_read(arena, stream->item.data, stream->item.len);
    enum json_stream_end end = JSON_STREAM_BROKEN;
    if (item != NULL)
        end = take(context, item) ? JSON_STREAM_MORE : JSON_STREAM_LEFT;
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
        if (end != JSON_STREAM_MORE)
            return end;
    }
    return JSON_STREAM_MORE;
}
