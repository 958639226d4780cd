#include "proto/base/quote.h"

#include <string.h>

#include "proto/base/utf8.h"

/* Bytes that need no escape in a string. */
static size_t count_plain(const char *value, size_t len)
{
    size_t plain = 0;
    while (plain < len && value[plain] != '"' && value[plain] != '\\') {
        const size_t n = utf8_sequence(value + plain, len - plain);
        if (n == 0 || text_steers_terminal(utf8_decode(value + plain, n)))
            break;
        plain += n;
    }
    return plain;
}

/* Returns how many bytes of `value` it encodes. */
static size_t put_escape(struct text *out, const char *value, size_t len)
{
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char names[] = "\"\\bfnrt";
    const size_t n = utf8_sequence(value, len);
    const char *escape = strchr(named, *value);
    if (n == 0)
        text_puts(out, "\xEF\xBF\xBD");
    else if (escape != NULL)
        text_printf(out, "\\%c", names[escape - named]);
    else
        text_printf(out, "\\u%04x", (unsigned)utf8_decode(value, n));
    return n > 0 ? n : 1;
}

void quote_json(struct text *out, const char *value)
{
    size_t len = strlen(value);
    text_puts(out, "\"");
    while (len > 0) {
        size_t n = count_plain(value, len);
        text_append(out, value, n);
        if (n < len)
            n += put_escape(out, value + n, len - n);
        value += n;
        len -= n;
    }
    text_puts(out, "\"");
}
