/* messages.h - the words of a talk: chooses and builds its next request.
 *
 * The other half, talk.c, listens. */
#ifndef HT_RUNNER_TALK_MESSAGES_H
#define HT_RUNNER_TALK_MESSAGES_H

#include <stdint.h>

#include "runner/talk/talk.h"

/* Posts the most urgent request, if there is anything to say; no other may be
 * under way. */
void talk_say_next(struct talk *talk);
/* Posts the request under way once more, unchanged. */
void talk_post(struct talk *talk);
/* Monotonic time at which the next heartbeat is due. */
int64_t talk_heartbeat_at(const struct talk *talk);

#endif
