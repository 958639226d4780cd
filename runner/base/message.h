/* message.h - requests to the control address and the envelope of answers:
 * proto/README.md section 4. */
#ifndef HT_RUNNER_BASE_MESSAGE_H
#define HT_RUNNER_BASE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/base/order.h"

struct sender {      /* who speaks */
    char token[256]; /* of the runner */
    char runner[40]; /* kept across restarts */
    char boot[40];   /* random per start */
};

/* Starts `{...`, an object that message_close() ends. */
void message_open(struct text *out, const struct sender *sender,
                  const char *type, int64_t id);
void message_int(struct text *out, const char *key, int64_t value);
void message_string(struct text *out, const char *key, const char *value);
void message_attempt(struct text *out, const struct order_key *key);
/* Starts a member that is a list of attempts; message_list_end() ends it. */
void message_list(struct text *out, const char *key);
void message_list_attempt(struct text *out, const struct order_key *key);
void message_list_end(struct text *out);
void message_close(struct text *out);

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

struct answer message_read(struct arena *arena, const struct text *text);

#endif
