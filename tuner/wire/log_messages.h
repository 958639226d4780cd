/* log_messages.h - `log` messages of the control address, which go to the log
 * thread, not through the core. */
#ifndef HT_TUNER_WIRE_LOG_MESSAGES_H
#define HT_TUNER_WIRE_LOG_MESSAGES_H

#include "tuner/core/request.h"

struct core;
struct logs;

/* Checks the runner token and gives the chunk to the log thread, which calls
 * req->answer after its commit. */
void log_messages_handle(struct core *core, struct logs *logs,
                         struct request *req);

#endif
