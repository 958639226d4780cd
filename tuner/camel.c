#include "tuner/camel.h"

#include <ctype.h>

size_t camel_match(const char *text, const char *name)
{
    const char *at = text;
    for (; *name != '\0'; name++, at++) {
        const bool is_snake = *at == '_' && islower((unsigned char)at[1]);
        at += is_snake;
        if ((is_snake ? (char)toupper((unsigned char)*at) : *at) != *name)
            return 0;
    }
    const bool goes_on = isalnum((unsigned char)*at) || *at == '_';
    return goes_on ? 0 : (size_t)(at - text);
}

bool camel_is(const char *text, const char *name)
{
    const size_t len = camel_match(text, name);
    return len > 0 && text[len] == '\0';
}
