/* last_seen.h - when each runner last sent a message, and what the last poll
 * of an elastic one said of its cluster.
 *
 * The database has only when a runner came online and went offline, to save
 * writes. The core notes each message here, and any thread may read it. */
#ifndef HT_TUNER_RUNNERS_LAST_SEEN_H
#define HT_TUNER_RUNNERS_LAST_SEEN_H

#include <stdint.h>

#include "proto/base/arena.h"

struct last_seen;

/* No runner is known; free it when no other thread uses it any more. */
struct last_seen *last_seen_new(void);
void last_seen_free(struct last_seen *last_seen); /* accepts NULL */

/* The runner with that id sent a message at this wall time. Any thread. */
void last_seen_note(struct last_seen *last_seen, const char *runner,
                    int64_t wall_ms);
/* The elements of its cluster, as JSON, copied. Any thread. */
void last_seen_note_elements(struct last_seen *last_seen, const char *runner,
                             const char *json);
/* The newest ones, in the arena; NULL: it said nothing. Any thread. */
const char *last_seen_elements(struct last_seen *last_seen, struct arena *arena,
                               const char *runner);
/* When it last did; 0: not since the server started. Any thread. */
int64_t last_seen_ms(struct last_seen *last_seen, const char *runner);

#endif
