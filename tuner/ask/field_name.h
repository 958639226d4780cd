/* field_name.h - names of Google's fields, which may be said in camelCase, as
 * JSON has them, or in snake_case, as protobuf has. */
#ifndef HT_TUNER_ASK_FIELD_NAME_H
#define HT_TUNER_ASK_FIELD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes at the start of `text` say the camelCase name: 12 of
 * "display_name=a" say displayName. 0: they say another one. */
size_t field_name_match(const char *text, const char *name);

/* Whether `len` bytes are the name of `name_bytes`, in either spelling. */
bool field_name_is(const char *text, size_t len, const char *name,
                   size_t name_bytes);

#endif
