/* usage_messages.h - what trials use of their machines, as a runner's messages
 * have it beside other things. */
#ifndef HT_TUNER_WIRE_USAGE_MESSAGES_H
#define HT_TUNER_WIRE_USAGE_MESSAGES_H

#include "proto/base/error.h"
#include "tuner/core/live.h"
#include "tuner/core/request.h"

struct core;

/* Stores the member "usage" of the message. What is wrong in it, or belongs to
 * no attempt of the runner, is left out: nothing else may fail for it. */
enum ht_status usage_messages_take(struct core *core, struct request *req,
                                   const struct live_runner *runner,
                                   struct ht_error *err);

#endif
