/* expression.h - regular expressions that people send, found in a time and
 * memory that their length bounds: each byte of a text moves a set of states
 * forward, and nothing is tried twice.
 *
 *     ^ $ . [a-z] [^[:space:]] ( ) (?: ) | * + ?  \d \w \s \D \W \S \b \B
 *
 * and (?i) at the beginning: without regard to case. "." and a set that is
 * negated stand for a whole character of UTF-8; sets name ASCII. A backslash
 * takes the meaning of any byte that is no letter or digit. */
#ifndef HT_TUNER_EXPRESSION_H
#define HT_TUNER_EXPRESSION_H

#include <stdbool.h>

#include "proto/arena.h"
#include "proto/error.h"

enum { EXPRESSION_MOST = 256 }; /* bytes */

struct expression;

/* HT_INVALID  it is too long or not of this form; err tells why */
enum ht_status expression_read(struct arena *arena, const char *text,
                               const struct expression **expression,
                               struct ht_error *err);

/* Does it match any part of the text? */
bool expression_is_found(const struct expression *expression, const char *text);

#endif
