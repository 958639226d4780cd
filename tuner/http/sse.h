/* sse.h - server-sent events: every study's newest revision to every watcher.
 *
 * Publishing never waits: a slow client simply finds fewer, newer revisions
 * when it reads next. A client that is gone is noticed at the next comment. */
#ifndef HT_TUNER_HTTP_SSE_H
#define HT_TUNER_HTTP_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

enum { SSE_MAX_STREAMS = 256, SSE_COMMENT_MS = 15000 };

struct MHD_Connection;
struct sse;

struct sse *sse_new(void);
void sse_free(struct sse *sse); /* after its streams ended; accepts NULL */

/* A study has a new revision; older ones change nothing. The last one of all is
 * REVISION_DELETED: it is forgotten when every stream has told it. Any thread.
 */
void sse_publish(struct sse *sse, int64_t study, int64_t revision);

/* Answers the connection with a stream: all known studies, then changes; to
 * HEAD with its headers alone. Not suspended; on the HTTP thread. HT_LIMIT at
 * SSE_MAX_STREAMS. */
enum ht_status sse_attach(struct sse *sse, struct MHD_Connection *connection,
                          bool is_head, struct ht_error *err);

/* Wakes every stream that was silent for SSE_COMMENT_MS; forgets what is told
 * of deleted studies. */
void sse_tick(struct sse *sse, int64_t now_ms);
/* Ends all streams and refuses new ones. */
void sse_close(struct sse *sse);
bool sse_is_empty(struct sse *sse);

#endif
