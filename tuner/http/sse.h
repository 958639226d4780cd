/* sse.h - server-sent events: each study's newest revision for every client.
 *
 * Publishing never waits: a slow client gets fewer, newer revisions when it
 * reads next. A closed connection is noticed at the next comment. */
#ifndef HT_TUNER_HTTP_SSE_H
#define HT_TUNER_HTTP_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

enum {
    SSE_MAX_STREAMS = 256,
    SSE_STREAM_MS = 300000, /* a stream ends, so that tokens are asked for
     again */
    SSE_COMMENT_MS = 15000
};

struct MHD_Connection;
struct sse;

/* The caller closes it, waits until it is empty and frees it. */
struct sse *sse_new(void);
void sse_free(struct sse *sse); /* after its streams ended; accepts NULL */

/* A study has a new revision; older ones change nothing. The last one of all is
 * REVISION_DELETED: it is removed when every stream has sent it. `project` is
 * copied; NULL: as it was said before, if it was. Any thread. */
void sse_publish(struct sse *sse, int64_t study, int64_t revision,
                 const char *project);

/* Whom a stream is for. */
struct sse_client {
    struct MHD_Connection *connection; /* not suspended */
    const char *project; /* the only one that is shown, copied; "": all */
    int64_t study;       /* the only one that is shown; 0: all */
    bool is_head;        /* gets the headers alone */
};

/* Answers the connection with a stream: all known studies, then changes. That
 * of a project ends at a study whose project was not said yet, so that its
 * client asks again. On the HTTP thread. HT_LIMIT at SSE_MAX_STREAMS. */
enum ht_status sse_attach(struct sse *sse, const struct sse_client *client,
                          struct ht_error *err);

/* Wakes every stream that sent nothing for SSE_COMMENT_MS; removes deleted
 * studies that all streams have sent. */
void sse_tick(struct sse *sse, int64_t now_ms);
/* Ends all streams and refuses new ones. */
void sse_close(struct sse *sse);
/* Whether no stream is open. Any thread. */
bool sse_is_empty(struct sse *sse);

#endif
