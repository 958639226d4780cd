#include "proto/base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t scan_digits(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && text[n] >= '0' && text[n] <= '9')
        n++;
    return n;
}

size_t number_scan(const char *text, size_t len)
{
    size_t at = len > 0 && text[0] == '-';
    size_t digits = scan_digits(text + at, len - at);
    if (digits == 0)
        return 0;
    at += text[at] == '0' ? 1 : digits;
    if (at < len && text[at] == '.') {
        size_t fraction = scan_digits(text + at + 1, len - at - 1);
        if (fraction == 0)
            return at;
        at += 1 + fraction;
    }
    if (at < len && (text[at] == 'e' || text[at] == 'E')) {
        size_t sign =
            at + 1 < len && (text[at + 1] == '+' || text[at + 1] == '-');
        size_t exponent =
            scan_digits(text + at + 1 + sign, len - at - 1 - sign);
        if (exponent > 0)
            at += 1 + sign + exponent;
    }
    return at;
}

bool number_is_json(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && number_scan(text, len) == len;
}

/* The power of ten that the text ends with. Beyond ten million it is as good
 * as infinite, because no document holds as many digits to make up for it. */
static int read_exponent(const char *text)
{
    const char *e = strpbrk(text, "eE");
    if (e == NULL)
        return 0;
    long power = strtol(e + 1, NULL, 10);
    const long most = 10000000;
    return (int)(power > most ? most : power < -most ? -most : power);
}

/* Appends one decimal digit; values are kept negative because INT64_MIN has no
 * positive counterpart. */
static bool push_digit(int64_t *negative, int digit)
{
    int64_t grown;
    if (__builtin_mul_overflow(*negative, 10, &grown) ||
        __builtin_sub_overflow(grown, digit, &grown))
        return false;
    *negative = grown;
    return true;
}

/* Goes through the digits of the mantissa and then as many zeros as the
 * exponent asks for. */
bool number_int64(const char *text, int64_t *value)
{
    if (!number_is_json(text))
        return false;
    const char *p = text + (*text == '-');
    const char *point = strchr(p, '.');
    size_t mantissa = strcspn(p, "eE");
    int power = read_exponent(p);
    int64_t places = (int64_t)(point ? point - p : (ptrdiff_t)mantissa) + power;
    int64_t negative = 0, place = 0; /* of the digit, from the left */
    for (size_t i = 0; i < mantissa; i++) {
        if (p[i] == '.')
            continue;
        if (place++ < places ? !push_digit(&negative, p[i] - '0') : p[i] != '0')
            return false;
    }
    for (; place < places && negative != 0; place++) {
        if (!push_digit(&negative, 0))
            return false;
    }
    if (*text != '-' && negative == INT64_MIN)
        return false;
    *value = *text == '-' ? negative : -negative;
    return true;
}

bool number_double(const char *text, double *value)
{
    if (!number_is_json(text))
        return false;
    double read = strtod(text, NULL);
    if (!isfinite(read))
        return false;
    *value = read;
    return true;
}

bool number_bytes(const char *text, int64_t *bytes)
{
    static const struct {
        const char *suffix;
        double unit;
    } units[] = {{"", 1},        {"k", 1e3},    {"K", 1e3},     {"M", 1e6},
                 {"G", 1e9},     {"T", 1e12},   {"Ki", 0x1p10}, {"Mi", 0x1p20},
                 {"Gi", 0x1p30}, {"Ti", 0x1p40}};
    if (!isdigit((unsigned char)text[0]) || text[1] == 'x')
        return false;
    if (number_int64(text, bytes)) /* exact, also beyond 2^53 */
        return true;
    char *end;
    double amount = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double size = amount * units[i].unit;
        if (strcmp(end, units[i].suffix) == 0 && size < 0x1p62) {
            *bytes = (int64_t)size;
            return true;
        }
    }
    return false;
}
