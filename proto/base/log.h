/* log.h - events on stderr, one line each.
 *
 *     warn runner.lost runner=a:3 silent_ms=31000 at=2026-11-21T03:10:02.123Z
 *
 * A line is one write, control bytes and BiDi marks in it are escaped, errno
 * is preserved. Any thread. Never pass a token. */
#ifndef HT_PROTO_BASE_LOG_H
#define HT_PROTO_BASE_LOG_H

#include <stdbool.h>

/* LOG_NONE is for log_set_level() alone. */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_NONE };

/* `event` is a stable dotted id; `format` gives the key=value pairs, "" for
 * none. Events below LOG_INFO are shown after log_set_level(LOG_DEBUG). */
__attribute__((format(printf, 3, 4))) void
log_event(enum log_level level, const char *event, const char *format, ...);

/* Both are set once, before threads. */
void log_set_level(enum log_level lowest);
void log_set_stamped(bool stamped); /* lines end with at=TIME; false at first */

#endif
