#include "proto/doc/yaml_scalar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char decimal[] = "0123456789";

struct word {
    const char *plain;
    enum node_kind kind;
    const char *text;
};

static const struct word words[] = {
    {"", NODE_NULL, "null"},       {"~", NODE_NULL, "null"},
    {"null", NODE_NULL, "null"},   {"Null", NODE_NULL, "null"},
    {"NULL", NODE_NULL, "null"},   {"true", NODE_BOOL, "true"},
    {"True", NODE_BOOL, "true"},   {"TRUE", NODE_BOOL, "true"},
    {"false", NODE_BOOL, "false"}, {"False", NODE_BOOL, "false"},
    {"FALSE", NODE_BOOL, "false"},
};

/* 0x1F and 0o17 in decimal, NULL when it is neither or above 64 bits. */
static const char *read_prefixed(struct arena *arena, const char *plain)
{
    static const char hexadecimal[] = "0123456789abcdefABCDEF";
    if (plain[0] != '0' || (plain[1] != 'x' && plain[1] != 'o'))
        return NULL;
    const bool is_hex = plain[1] == 'x';
    const char *digits = plain + 2;
    if (*digits == '\0' ||
        digits[strspn(digits, is_hex ? hexadecimal : "01234567")] != '\0')
        return NULL;
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, is_hex ? 16 : 8);
    return errno == 0 ? arena_printf(arena, "%llu", value) : NULL;
}

/* The parts of [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
struct parts {
    bool minus;
    const char *whole, *fraction, *exponent;
    size_t n_whole, n_fraction;
};

static bool split(const char *plain, struct parts *parts)
{
    *parts = (struct parts){.minus = *plain == '-'};
    const char *p = plain + (*plain == '-' || *plain == '+');
    parts->whole = p;
    parts->n_whole = strspn(p, decimal);
    p += parts->n_whole;
    parts->fraction = p;
    if (*p == '.') {
        parts->fraction = p + 1;
        parts->n_fraction = strspn(p + 1, decimal);
        p += 1 + parts->n_fraction;
    }
    parts->exponent = p;
    if (parts->n_whole + parts->n_fraction == 0)
        return false;
    if (*p == '\0')
        return true;
    if (*p != 'e' && *p != 'E')
        return false;
    p += 1 + (p[1] == '-' || p[1] == '+');
    return *p != '\0' && p[strspn(p, decimal)] == '\0';
}

static const char *read_decimal(struct arena *arena, const char *plain)
{
    struct parts parts;
    if (!split(plain, &parts))
        return NULL;
    while (parts.n_whole > 1 && *parts.whole == '0') {
        parts.whole++;
        parts.n_whole--;
    }
    return arena_printf(arena, "%s%.*s%s%.*s%s", parts.minus ? "-" : "",
                        parts.n_whole ? (int)parts.n_whole : 1,
                        parts.n_whole ? parts.whole : "0",
                        parts.n_fraction ? "." : "", (int)parts.n_fraction,
                        parts.fraction, parts.exponent);
}

enum node_kind yaml_scalar(struct arena *arena, const char *plain,
                           const char **text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(plain, words[i].plain) == 0) {
            *text = words[i].text;
            return words[i].kind;
        }
    }
    const char *number = read_prefixed(arena, plain);
    if (number == NULL)
        number = read_decimal(arena, plain);
    *text = number != NULL ? number : plain;
    return number != NULL ? NODE_NUMBER : NODE_STRING;
}

bool yaml_scalar_has_leading_zero(const char *plain)
{
    struct parts parts;
    return split(plain, &parts) && parts.n_whole > 1 && *parts.whole == '0';
}
