/* raw_heads.h - the relay's check of HTTP connections of other machines: their
 * heads as raw bytes, before the HTTP library repairs them. */
#ifndef HT_TUNER_HTTP_RAW_HEADS_H
#define HT_TUNER_HTTP_RAW_HEADS_H

#include "proto/net/relay.h"
#include "tuner/http/refused.h"

/* The check for one relay's listeners. `log` is borrowed as long as they are
 * open, and the relay's thread alone writes to it. */
struct relay_check raw_heads_check(struct refused_log *log);

#endif
