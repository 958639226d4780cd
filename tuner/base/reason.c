#include "tuner/base/reason.h"

#include <string.h>

#include "proto/base/limits.h"

const char *reason_cut(struct arena *arena, const char *text)
{
    size_t len = strnlen(text, HT_MAX_REASON);
    /* Bytes 10xxxxxx continue a character of UTF-8. */
    while (text[len] != '\0' && len > 0 &&
           ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return arena_strndup(arena, text, len);
}

const char *reason_make(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return reason_cut(arena, text);
}
