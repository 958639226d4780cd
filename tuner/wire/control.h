/* control.h - handles what runners send to the control address: hello, lease,
 * heartbeat and others (proto/README.md section 4). Core thread. */
#ifndef HT_TUNER_WIRE_CONTROL_H
#define HT_TUNER_WIRE_CONTROL_H

#include "tuner/core/request.h"

/* Every message of the control address but `log`. */
request_handler control_handle;

#endif
