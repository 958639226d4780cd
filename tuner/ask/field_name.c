#include "tuner/ask/field_name.h"

#include <ctype.h>
#include <string.h>

/* The length of the name in either spelling at the start of the text, or 0. */
static size_t spoken(const char *text, const char *name, size_t name_bytes)
{
    const char *at = text;
    for (size_t i = 0; i < name_bytes; i++, at++) {
        const bool is_snake = *at == '_' && islower((unsigned char)at[1]);
        at += is_snake;
        if ((is_snake ? (char)toupper((unsigned char)*at) : *at) != name[i])
            return 0;
    }
    return (size_t)(at - text);
}

size_t field_name_match(const char *text, const char *name)
{
    const size_t len = spoken(text, name, strlen(name));
    const bool goes_on = isalnum((unsigned char)text[len]) || text[len] == '_';
    return goes_on ? 0 : len;
}

bool field_name_is(const char *text, size_t len, const char *name,
                   size_t name_bytes)
{
    return len > 0 && spoken(text, name, name_bytes) == len;
}
