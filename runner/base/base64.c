#include "runner/base/base64.h"

#include <stdint.h>
#include <string.h>

#define COMMON_LETTERS                                                         \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

const char *base64_url_encode(struct arena *arena, const char *bytes,
                              size_t len)
{
    static const char letters[] = COMMON_LETTERS "-_";
    char *text = arena_alloc(arena, (len + 2) / 3 * 4 + 1, 1);
    char *out = text;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t group = 0;
        for (size_t k = i; k < i + 3; k++)
            group = group << 8 | (k < len ? (unsigned char)bytes[k] : 0);
        const size_t n = len - i < 3 ? len - i : 3;
        for (size_t k = 0; k < 4; k++)
            out[k] = letters[group >> (18 - 6 * k) & 63];
        for (size_t k = n + 1; k < 4; k++)
            out[k] = '=';
        out += 4;
    }
    return text;
}

const char *base64_decode(struct arena *arena, const char *text, size_t *len)
{
    static const char letters[] = COMMON_LETTERS "+/";
    const size_t n = strcspn(text, "=");
    const size_t padding = strlen(text) - n;
    if (n % 4 == 1 || padding > 2 || strspn(text + n, "=") != padding ||
        (padding > 0 && (n + padding) % 4 != 0))
        return NULL;
    char *bytes = arena_alloc(arena, n / 4 * 3 + 3, 1);
    size_t count = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        const char *letter = strchr(letters, text[i]);
        if (letter == NULL)
            return NULL;
        bits = bits << 6 | (uint32_t)(letter - letters);
        if (i % 4 != 0)
            bytes[count++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
    }
    bytes[count] = '\0';
    *len = count;
    return bytes;
}
