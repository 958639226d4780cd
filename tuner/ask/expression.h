/* expression.h - regular expressions that people send, as PCRE2 reads them.
 *
 * Some expressions never finish. Each search has a limited number of steps and
 * bytes; the caller learns when one was not enough. */
#ifndef HT_TUNER_ASK_EXPRESSION_H
#define HT_TUNER_ASK_EXPRESSION_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

enum { EXPRESSION_MOST = 256 }; /* bytes */

struct expression;

/* The expression and all that its searches need is in the arena.
 * HT_INVALID  it is too long or malformed; err contains the place and the
 *             reason, but not the expression: "is wrong at byte 3: ..." */
enum ht_status expression_read(struct arena *arena, const char *text,
                               struct expression **expression,
                               struct ht_error *err);

/* Whether it matches any part of the text; false, too, where it gave up. */
bool expression_is_found(struct expression *expression, const char *text);
/* Whether any search was given up. */
bool expression_gave_up(const struct expression *expression);

#endif
