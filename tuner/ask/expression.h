/* expression.h - regular expressions that people send, as PCRE2 reads them.
 *
 * Some expressions take for ever. Each search has a bounded number of steps
 * and bytes; who asked is told when one was not enough. */
#ifndef HT_TUNER_ASK_EXPRESSION_H
#define HT_TUNER_ASK_EXPRESSION_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

enum { EXPRESSION_MOST = 256 }; /* bytes */

struct expression;

/* The expression and all that its searches need is in the arena.
 * HT_INVALID  it is too long or malformed; err tells where and why, without
 *             repeating it: "is wrong at byte 3: ..." */
enum ht_status expression_read(struct arena *arena, const char *text,
                               struct expression **expression,
                               struct ht_error *err);

/* Does it match any part of the text? False, too, where it gave up. */
bool expression_is_found(struct expression *expression, const char *text);
/* Whether any search was given up. */
bool expression_gave_up(const struct expression *expression);

#endif
