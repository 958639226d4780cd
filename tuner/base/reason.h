/* reason.h - the reason of a state change, cut to the length that its column
 * allows. */
#ifndef HT_TUNER_BASE_REASON_H
#define HT_TUNER_BASE_REASON_H

#include "proto/base/arena.h"

/* The text, cut between two characters to HT_MAX_REASON bytes. */
const char *reason_cut(struct arena *arena, const char *text);

/* The formatted text, cut the same way. */
__attribute__((format(printf, 2, 3))) const char *
reason_make(struct arena *arena, const char *format, ...);

#endif
