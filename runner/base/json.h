/* json.h - JSON as the runner writes and reads it: objects member by member,
 * lists of texts, and streams of objects. */
#ifndef HT_RUNNER_BASE_JSON_H
#define HT_RUNNER_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

/* ---- writing ----
 *
 * Each appends a member of the object that is open, or, where the key is NULL,
 * an item of the list or the whole text; commas are added as needed, line
 * feeds never. Keys and texts are quoted here. The caller closes what it
 * opens, in order, with the function of that bracket; nothing checks it. */
void json_open(struct text *out, const char *key);
void json_close(struct text *out);
void json_open_list(struct text *out, const char *key);
void json_close_list(struct text *out);
void json_put_int(struct text *out, const char *key, int64_t value);
void json_put_bool(struct text *out, const char *key, bool value);
/* A NULL value is written as null. */
void json_put_string(struct text *out, const char *key,
                     const char *value); /* NULL: null */
void json_put_strings(struct text *out, const char *key,
                      const struct strings *values);
/* `json` is a value as JSON. */
void json_put_raw(struct text *out, const char *key, const char *json);

/* ---- reading ---- */

/* In the arena; NULL when the text is not JSON. */
const struct node *json_read(struct arena *arena, const char *text, size_t len);
/* In the arena; NULL when the text is not a JSON object. */
const struct node *json_read_map(struct arena *arena, const char *text,
                                 size_t len);
/* A list of texts, or of pairs of them, in the arena; none where it is absent
 * or null. False when it is not such a list, or has more than `most`. */
bool json_read_strings(struct arena *arena, const struct node *list,
                       size_t most, struct strings *strings);
/* A pair is a list of two texts: a name and its value. */
bool json_read_pairs(struct arena *arena, const struct node *list, size_t most,
                     struct pairs *pairs);

/* Which of the n words the member is; -1: none. */
int json_find_word(const struct node *map, const char *key,
                   const char *const words[], int n);

/* ---- streams of objects, as engines send them ---- */

struct json_stream {  /* all zero at first */
    struct text item; /* the object that has begun */
    int depth;        /* braces and brackets that are open */
    bool in_text, escaped;
};

enum json_stream_end {
    JSON_STREAM_MORE,   /* all bytes were taken */
    JSON_STREAM_LEFT,   /* `take` returned false */
    JSON_STREAM_BROKEN, /* these bytes are no JSON objects */
};

/* False: the caller wants no more objects; json_stream_feed() then drops the
 * bytes behind this one. */
typedef bool json_stream_take(void *context, const struct node *item);

/* Frees the object that has begun; the stream must not be used again. For any
 * stream, also after JSON_STREAM_BROKEN. */
void json_stream_fini(struct json_stream *stream);

/* Calls `take` with every object that is complete now; the item is valid
 * during the call. Objects may be split anywhere between two calls; an object
 * of more than HT_MAX_SPEC bytes counts as broken. */
enum json_stream_end json_stream_feed(struct json_stream *stream,
                                      const char *bytes, size_t len,
                                      json_stream_take *take, void *context);

/* False while an object has begun and not ended. */
bool json_stream_is_whole(const struct json_stream *stream);

#endif
