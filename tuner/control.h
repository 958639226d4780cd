/* control.h - the messages of the control address, proto/README.md section 4,
 * and the presence of runners. Core thread. */
#ifndef HT_TUNER_CONTROL_H
#define HT_TUNER_CONTROL_H

#include "tuner/core.h"
#include "tuner/request.h"

/* Every message of the control address but `log`. */
request_handler control_handle;

/* At start every runner counts as just seen. */
enum ht_status control_recover(struct core *core, struct ht_error *err);
/* Gives up runners that have been silent for lost_after_ms. */
core_tick_part control_tick;
int64_t control_deadline(struct core *core);

#endif
