/* messages.h - the messages of talk.h, proto/README.md section 4: the choice
 * and the text of the next request, and the envelope of answers.
 *
 * The other half, talk.c, handles the answers. */
#ifndef HT_RUNNER_TALK_MESSAGES_H
#define HT_RUNNER_TALK_MESSAGES_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "runner/talk/talk.h"

/* Starts an object that json_close() ends. */
void talk_open_message(struct text *out, const struct sender *sender,
                       const char *type, int64_t id);

/* Posts the most urgent request, if there is one; no other may be under way. */
void talk_send_next(struct talk *talk);
/* Posts the request under way once more, unchanged. */
void talk_post(struct talk *talk);
/* Monotonic time at which the next heartbeat is due. */
int64_t talk_heartbeat_at(const struct talk *talk);

enum answer_status {
    ANSWER_OK,
    ANSWER_RETRY,   /* again after retry_ms */
    ANSWER_GONE,    /* attempt or boot unknown, ended, superseded */
    ANSWER_DENIED,  /* token not allowed */
    ANSWER_INVALID, /* message wrong, or the answer is not readable */
};

struct answer {
    enum answer_status status;
    int64_t retry_ms;
    const char *error;      /* "" when the server gave none */
    const struct node *map; /* NULL when the answer is not readable */
};

struct answer talk_read_answer(struct arena *arena, const struct text *text);

#endif
