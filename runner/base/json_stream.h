/* json_stream.h - cuts bytes that come bit by bit into JSON objects, as engines
 * send them one after another. */
#ifndef HT_RUNNER_BASE_JSON_STREAM_H
#define HT_RUNNER_BASE_JSON_STREAM_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

struct json_stream {  /* all zero at first */
    struct text item; /* the object that has begun */
    int depth;        /* braces and brackets that are open */
    bool in_text, escaped;
};

enum json_stream_end {
    JSON_STREAM_GOES_ON, /* all bytes were taken */
    JSON_STREAM_LEFT,    /* `take` wants no more */
    JSON_STREAM_BROKEN,  /* these bytes are no JSON objects */
};

typedef bool json_stream_take(void *context, const struct node *item);

void json_stream_fini(struct json_stream *stream);

/* Hands every object that is complete now to `take`; the item is gone after
 * the call. */
enum json_stream_end json_stream_feed(struct json_stream *stream,
                                      const char *bytes, size_t len,
                                      json_stream_take *take, void *context);

/* False while an object has begun and not ended. */
bool json_stream_is_whole(const struct json_stream *stream);

#endif
