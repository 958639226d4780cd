/* machine_id.h - which machine this is, the same for all programs on it. */
#ifndef HT_PROTO_BASE_MACHINE_ID_H
#define HT_PROTO_BASE_MACHINE_ID_H

#include "proto/base/token.h"

/* Writes 64 hexadecimal digits: the SHA-256 of "hypertune:" and the name, or,
 * where that is NULL, what /etc/machine-id has; where there is none, the name
 * of the host. The hash keeps the machine's id itself secret, as its manual
 * asks for. */
void machine_id(char id[TOKEN_TEXT_BYTES], const char *name);

#endif
