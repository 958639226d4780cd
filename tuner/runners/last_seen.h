/* last_seen.h - when each runner was last heard.
 *
 * The database knows when a runner came and went; that one still speaks is no
 * reason to write. The core notes it here, and any thread may ask. */
#ifndef HT_TUNER_RUNNERS_LAST_SEEN_H
#define HT_TUNER_RUNNERS_LAST_SEEN_H

#include <stdint.h>

struct last_seen;

struct last_seen *last_seen_new(void);
void last_seen_free(struct last_seen *last_seen); /* accepts NULL */

/* The runner with that id spoke at this wall time. Any thread. */
void last_seen_note(struct last_seen *last_seen, const char *runner,
                    int64_t wall_ms);
/* When it last did; 0: not since the server started. Any thread. */
int64_t last_seen_ms(struct last_seen *last_seen, const char *runner);

#endif
