#include "hypertune/trial/trial.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "hypertune/lib/report_record.h"
#include "hypertune/trial/commands.h"

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

static size_t named_number(const char *text)
{
    static const char *const names[] = {"infinity", "inf", "nan"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncasecmp(text, names[i], strlen(names[i])) == 0)
            return strlen(names[i]);
    return 0;
}

static size_t plain_number(const char *text)
{
    size_t len = count_digits(text);
    size_t fraction = text[len] == '.' ? count_digits(text + len + 1) : 0;
    if (len + fraction == 0)
        return 0;
    /* "epoch 3." ends a sentence, "3.5" does not. */
    len += fraction > 0 ? fraction + 1 : 0;
    if (text[len] != 'e' && text[len] != 'E')
        return len;
    size_t sign = text[len + 1] == '+' || text[len + 1] == '-';
    size_t exponent = count_digits(text + len + 1 + sign);
    return exponent > 0 ? len + 1 + sign + exponent : len;
}

/* Bytes of the number at text[0]: digits, a point and an exponent where digits
 * follow, or nan, inf, infinity; 0 for none. */
static size_t scan_number(const char *text, double *value)
{
    size_t sign = *text == '+' || *text == '-';
    size_t len = plain_number(text + sign);
    if (len == 0)
        len = named_number(text + sign);
    if (len == 0)
        return 0;
    char copy[512];
    len += sign;
    if (len >= sizeof copy)
        return 0;
    memcpy(copy, text, len);
    copy[len] = '\0';
    *value = strtod(copy, NULL);
    return len;
}

bool trial_read_number(const char *text, double *value)
{
    double number;
    size_t len = scan_number(text, &number);
    if (len == 0 || text[len] != '\0')
        return false;
    *value = number;
    return true;
}

bool trial_read_integer(const char *text, int64_t *value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (*digits == '\0' || digits[count_digits(digits)] != '\0')
        return false;
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    if (errno != 0)
        return false;
    *value = number;
    return true;
}

bool trial_read_duration(const char *text, int *ms)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}};
    double total = 0;
    double alone;
    if (trial_read_number(text, &alone) && plain_number(text) > 0) {
        total = alone * 1e3;
        text += strlen(text);
    } else if (*text == '\0') {
        return false;
    }
    while (*text != '\0') {
        double number = 0;
        size_t len = plain_number(text);
        if (len == 0 || scan_number(text, &number) != len)
            return false;
        text += len;
        size_t unit = strspn(text, "abcdefghijklmnopqrstuvwxyz");
        double scale = 0;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (unit == strlen(units[i].name) &&
                memcmp(text, units[i].name, unit) == 0)
                scale = units[i].ms;
        if (scale == 0)
            return false;
        total += number * scale;
        text += unit;
    }
    if (total > INT_MAX)
        return false;
    *ms = (int)total;
    return true;
}

bool trial_option(const char *name, int argc, char **argv, int *at,
                  const char **value)
{
    const char *word = argv[*at];
    size_t len = strlen(name);
    if (strncmp(word, name, len) != 0)
        return false;
    if (word[len] == '=' && word[1] == '-') {
        *value = word + len + 1;
        return true;
    }
    if (word[len] != '\0')
        return false;
    *value = *at + 1 < argc ? argv[++*at] : NULL;
    return true;
}

int trial_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("hypertune: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return TRIAL_EXIT_USAGE;
}

void trial_print_shell(FILE *out, const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_=+./,:@%^";
    if (*text != '\0' && text[strspn(text, safe)] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

void trial_print_json(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text != '\0') {
        uint32_t code;
        int len = report_record_utf8(text, &code);
        if (len == 0)
            fputs("\\ufffd", out);
        else if (code < 0x20 || code == 0x7F)
            fprintf(out, "\\u%04x", (unsigned)code);
        else
            fprintf(out, "%s%.*s", code == '"' || code == '\\' ? "\\" : "", len,
                    text);
        text += len > 0 ? len : 1;
    }
    fputc('"', out);
}

void trial_print_plain(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7F)
            fprintf(out, "\\x%02x", byte);
        else
            fputc(byte, out);
    }
}
