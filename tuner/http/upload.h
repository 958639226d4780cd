/* upload.h - a body that the store takes as it comes: whenever a piece is full,
 * the connection rests until a thread of the store has written it, so that
 * nothing here waits for a disk and one piece is all that is held. HTTP thread.
 */
#ifndef HT_TUNER_HTTP_UPLOAD_H
#define HT_TUNER_HTTP_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>

struct call;

/* Whether the store takes its body, which was not refused. */
bool upload_is_wanted(const struct call *call);
/* To be called first whenever the library continues the request: a call that
 * the store has answered reads further, or is refused. */
void upload_resume(struct call *call);
/* *len gets what was not taken; then, or when a piece is full, the call is
 * posted. False: the connection must end. */
bool upload_take(struct call *call, const char *data, size_t *len);

#endif
