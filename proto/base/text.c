#include "proto/base/text.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/utf8.h"

enum { WRAP_COLUMN = 78 };

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

void text_clear(struct text *text)
{
    text->len = 0;
    if (text->data != NULL)
        text->data[0] = '\0';
}

const char *text_string(const struct text *text)
{
    return text->data != NULL ? text->data : "";
}

char *text_take(struct text *text, struct arena *arena)
{
    char *copy = arena_strndup(arena, text_string(text), text->len);
    text_free(text);
    return copy;
}

static void reserve(struct text *text, size_t extra)
{
    if (text->len + extra < text->cap)
        return;
    size_t cap = text->cap ? text->cap : 64;
    while (cap <= text->len + extra)
        cap *= 2;
    text->data = ht_xrealloc(text->data, cap, 1);
    text->cap = cap;
}

void text_append(struct text *text, const char *bytes, size_t len)
{
    reserve(text, len);
    if (len > 0)
        memcpy(text->data + text->len, bytes, len);
    text->len += len;
    text->data[text->len] = '\0';
}

void text_puts(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0) {
        reserve(text, (size_t)n);
        vsnprintf(text->data + text->len, (size_t)n + 1, format, again);
        text->len += (size_t)n;
    }
    va_end(again);
}

char *text_of_double(char buffer[TEXT_DOUBLE_BYTES], double value)
{
    if (!isfinite(value)) {
        snprintf(buffer, TEXT_DOUBLE_BYTES, "%s",
                 isnan(value) ? "NaN"
                 : value > 0  ? "Infinity"
                              : "-Infinity");
        return buffer;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, TEXT_DOUBLE_BYTES, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}

void text_double(struct text *text, double value)
{
    char buffer[TEXT_DOUBLE_BYTES];
    text_puts(text, text_of_double(buffer, value));
}

bool text_steers_terminal(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x61C ||
           code == 0x200E || code == 0x200F ||
           (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

void text_escape(struct text *text, const char *string)
{
    size_t len = strlen(string);
    while (len > 0) {
        size_t n = utf8_sequence(string, len);
        uint32_t code = n > 0 ? utf8_decode(string, n) : 0;
        if (n == 0)
            text_printf(text, "\\x%02x", (unsigned)(unsigned char)*string);
        else if (!text_steers_terminal(code))
            text_append(text, string, n);
        else
            text_printf(text, code < 0x80 ? "\\x%02x" : "\\u%04x",
                        (unsigned)code);
        n += n == 0;
        string += n;
        len -= n;
    }
}

/* Appends what the conversion at `format` stands for; returns what follows. */
static const char *add_safely(struct text *text, const char *format,
                              va_list *args)
{
    const size_t len = strcspn(format + 1, "sdug%") + 1;
    assert(format[len] != '\0');
    switch (format[len]) {
    case 's':
        assert(len == 1);
        text_escape(text, va_arg(*args, const char *));
        break;
    case 'd':
        assert(strncmp(format, "%lld", len + 1) == 0);
        text_printf(text, "%lld", va_arg(*args, long long));
        break;
    case 'u':
        assert(strncmp(format, "%zu", len + 1) == 0);
        text_printf(text, "%zu", va_arg(*args, size_t));
        break;
    case 'g':
        assert(format[1] == '.');
        text_printf(text, "%.*g", (int)strtol(format + 2, NULL, 10),
                    va_arg(*args, double));
        break;
    case '%':
        text_puts(text, "%");
        break;
    }
    return format + len + 1;
}

void text_print_safe(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    while (*format != '\0') {
        const size_t len = strcspn(format, "%");
        text_append(text, format, len);
        format += len;
        if (*format != '\0')
            format = add_safely(text, format, &args);
    }
    va_end(args);
}

void text_wrap(struct text *text, const char *words, size_t indent)
{
    size_t column = indent;
    while (*words != '\0') {
        const size_t len = strcspn(words, " ");
        if (column > indent && column + 1 + len > WRAP_COLUMN) {
            text_printf(text, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            text_puts(text, " ");
            column++;
        }
        text_append(text, words, len);
        column += len;
        words += len + strspn(words + len, " ");
    }
    text_puts(text, "\n");
}

void text_shell_word(struct text *text, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_=+./,:@%^";
    if (*word != '\0' && word[strspn(word, safe)] == '\0') {
        text_puts(text, word);
        return;
    }
    text_puts(text, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            text_puts(text, "'\\''");
        else
            text_append(text, word, 1);
    }
    text_puts(text, "'");
}

void text_clean(struct text *out, const char *s, size_t len)
{
    size_t good = 0; /* valid bytes before s that are not yet appended */
    while (len > 0) {
        size_t n = utf8_sequence(s, len);
        if (n == 0) {
            text_append(out, s - good, good);
            text_puts(out, "\xEF\xBF\xBD");
            good = 0;
            n = 1;
        } else {
            good += n;
        }
        s += n;
        len -= n;
    }
    text_append(out, s - good, good);
}
