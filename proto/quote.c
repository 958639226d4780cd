#include "proto/quote.h"

#include <string.h>

#include "proto/utf8.h"

void json_quote(struct text *out, const char *value)
{
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char names[] = "\"\\bfnrt";
    text_puts(out, "\"");
    while (*value != '\0') {
        size_t plain = 0;
        while ((unsigned char)value[plain] >= 0x20 && value[plain] != '"' &&
               value[plain] != '\\')
            plain++;
        utf8_clean(out, value, plain);
        value += plain;
        if (*value == '\0')
            break;
        const char *escape = strchr(named, *value);
        if (escape != NULL)
            text_printf(out, "\\%c", names[escape - named]);
        else
            text_printf(out, "\\u%04x", (unsigned)(unsigned char)*value);
        value++;
    }
    text_puts(out, "\"");
}
