/* field_name.h - names of Google's fields, which may be written in camelCase,
 * as in JSON, or in snake_case, as in protobuf. */
#ifndef HT_TUNER_ASK_FIELD_NAME_H
#define HT_TUNER_ASK_FIELD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the camelCase name in either spelling at the start of `text`:
 * 12 of "display_name=a" for displayName. 0: it starts with another name. */
size_t field_name_match(const char *text, const char *name);

/* Whether `len` bytes are the name of `name_bytes`, in either spelling. */
bool field_name_is(const char *text, size_t len, const char *name,
                   size_t name_bytes);

#endif
