/* utf8.h - UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing
 * above U+10FFFF. */
#ifndef HT_PROTO_BASE_UTF8_H
#define HT_PROTO_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes (1 to 4) of the sequence at `s`, 0 when it is invalid or cut off. */
size_t utf8_sequence(const char *s, size_t len);

/* All `len` bytes; true for none. NUL is a valid character here. */
bool utf8_is_valid(const char *s, size_t len);

/* Code points in valid text; in other text, bytes that begin one. */
size_t utf8_count(const char *s, size_t len);

/* The code point of a valid sequence of n bytes. */
uint32_t utf8_decode(const char *s, size_t n);

/* Writes 1 to 4 bytes of a valid code point, without a NUL; returns how many.
 */
size_t utf8_encode(char buffer[4], uint32_t code);

#endif
