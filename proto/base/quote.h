/* quote.h - text as a JSON string, for programs that build JSON piece by piece.
 *
 * Apart from json.h, because it needs libc and nothing else. */
#ifndef HT_PROTO_BASE_QUOTE_H
#define HT_PROTO_BASE_QUOTE_H

#include "proto/base/text.h"

/* Appends a quoted JSON string, which is valid YAML too. What steers a terminal
 * is escaped, so that a terminal shows the text that is there.
 * Bytes outside UTF-8 become U+FFFD, so that what we send our own reader
 * accepts. */
void quote_json(struct text *out, const char *value);

#endif
