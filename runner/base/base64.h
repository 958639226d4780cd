/* base64.h - bytes as text of 64 letters, RFC 4648. */
#ifndef HT_RUNNER_BASE_BASE64_H
#define HT_RUNNER_BASE_BASE64_H

#include <stddef.h>

#include "proto/base/arena.h"

/* With - and _ (section 5), padded; in the arena. */
const char *base64_url_encode(struct arena *arena, const char *bytes,
                              size_t len);

/* Reads the usual letters (section 4), with or without padding. NULL when it
 * is no base64; else the bytes with a NUL behind them, in the arena. */
const char *base64_decode(struct arena *arena, const char *text, size_t *len);

#endif
