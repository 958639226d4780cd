#include "proto/base/utf8.h"

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The second byte carries every restriction: it rules out overlong forms
 * (E0, F0), surrogates (ED) and code points above U+10FFFF (F4). */
static bool is_second(unsigned char lead, unsigned char byte)
{
    switch (lead) {
    case 0xE0:
        return byte >= 0xA0 && byte <= 0xBF;
    case 0xED:
        return byte >= 0x80 && byte <= 0x9F;
    case 0xF0:
        return byte >= 0x90 && byte <= 0xBF;
    case 0xF4:
        return byte >= 0x80 && byte <= 0x8F;
    default:
        return is_tail(byte);
    }
}

size_t utf8_sequence(const char *s, size_t len)
{
    const unsigned char *u = (const unsigned char *)s;
    if (len == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    if (u[0] < 0xC2 || u[0] > 0xF4)
        return 0;
    size_t n = u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    if (n > len || !is_second(u[0], u[1]))
        return 0;
    for (size_t i = 2; i < n; i++) {
        if (!is_tail(u[i]))
            return 0;
    }
    return n;
}

bool utf8_is_valid(const char *s, size_t len)
{
    while (len > 0) {
        size_t n = utf8_sequence(s, len);
        if (n == 0)
            return false;
        s += n;
        len -= n;
    }
    return true;
}

size_t utf8_count(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += !is_tail((unsigned char)s[i]);
    return n;
}

uint32_t utf8_decode(const char *s, size_t n)
{
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (unsigned char)s[0] & masks[n];
    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3Fu);
    return code;
}

size_t utf8_encode(char buffer[4], uint32_t code)
{
    if (code < 0x80) {
        buffer[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--) {
        buffer[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    buffer[0] = (char)(leads[n] | code);
    return n;
}
