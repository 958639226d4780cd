/* usage.h - the member "usage" of messages: what trials use of their machines
 * (proto/README.md, section 4). */
#ifndef HT_RUNNER_TALK_USAGE_H
#define HT_RUNNER_TALK_USAGE_H

#include "proto/base/text.h"
#include "runner/attempt/attempts.h"

/* Appends what is new to the open object, about `most` bytes; the rest comes
 * with a later message. */
void usage_put_all(struct text *out, struct attempts *attempts, size_t most);
/* The same of one attempt. */
void usage_put_one(struct text *out, struct attempt *attempt, size_t most);

#endif
