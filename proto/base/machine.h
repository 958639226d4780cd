/* machine.h - which machine this is, the same for all programs on it. */
#ifndef HT_PROTO_BASE_MACHINE_H
#define HT_PROTO_BASE_MACHINE_H

#include "proto/base/token.h"

/* In hex, the SHA-256 of "hypertune:" and /etc/machine-id, which is not to be
 * shown itself (machine-id(5)); where there is none, of "hypertune:host:" and
 * the host's name. */
void machine_id(char text[TOKEN_TEXT_BYTES]);

#endif
