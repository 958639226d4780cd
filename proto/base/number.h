/* number.h - numbers in decimal text: JSON's grammar and exact conversions.
 *
 * Documents keep numbers as text, so that 9007199254740993 stays what it is
 * until a caller names the type. */
#ifndef HT_PROTO_BASE_NUMBER_H
#define HT_PROTO_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the longest prefix that is a number by RFC 8259 section 6, or 0. */
size_t number_scan(const char *text, size_t len);

/* Whether the whole text is such a number. */
bool number_is_json(const char *text);

/* Conversions of a whole JSON number; false, and nothing written, when the text
 * is none or the value does not fit. 1e3 and 5.0 are integers, 0.5 is not. */
bool number_int64(const char *text, int64_t *value);
bool number_double(const char *text, double *value); /* finite only */

/* Bytes from "2Gi", "1.5G", "1048576": binary and decimal suffixes as in
 * Kubernetes, below 2^62. False, and nothing written, when it is no size. */
bool number_bytes(const char *text, int64_t *bytes);

#endif
