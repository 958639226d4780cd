#include "hypertune/lib/report_record.h"
#include "hypertune/hypertune.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text that fills a caller's array; `full` once something did not fit. */
struct line {
    char *data;
    size_t len, cap;
    bool full;
};

static void put_bytes(struct line *line, const char *bytes, size_t len)
{
    if (len > line->cap - line->len) {
        line->full = true;
        return;
    }
    memcpy(line->data + line->len, bytes, len);
    line->len += len;
}

static void put_text(struct line *line, const char *text)
{
    put_bytes(line, text, strlen(text));
}

static void put_number(struct line *line, int64_t value)
{
    char digits[24]; /* 19 digits, sign, NUL */
    int len = snprintf(digits, sizeof digits, "%" PRId64, value);
    put_bytes(line, digits, (size_t)len);
}

int report_record_utf8(const char *text, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    int len = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    uint32_t value = s[0] & (0x7Fu >> len);
    for (int i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (s[i] & 0x3Fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[len] || value > 0x10FFFF ||
        (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *code = value;
    return len;
}

/* A JSON string. Paths may be any bytes: what is not UTF-8 becomes U+FFFD, as
 * the server refuses a message with a single bad byte. */
static void put_string(struct line *line, const char *text)
{
    put_text(line, "\"");
    while (*text != '\0') {
        uint32_t code;
        int len = report_record_utf8(text, &code);
        if (len == 0) {
            put_text(line, "\xEF\xBF\xBD");
            text++;
            continue;
        }
        char escape[8];
        if (code == '"' || code == '\\')
            put_text(line, "\\");
        if (code < 0x20 || code == 0x7F) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
            put_text(line, escape);
        } else {
            put_bytes(line, text, (size_t)len);
        }
        text += len;
    }
    put_text(line, "\"");
}

static int digits_of(char text[RECORD_DOUBLE_BYTES], int digits, double value)
{
    return snprintf(text, RECORD_DOUBLE_BYTES, "%.*g", digits, value);
}

/* Printing is the dearest part of a report, so 16 digits come first: when they
 * do not survive, only 17 do; when they do and end in zeros, %g has left those
 * out and nothing shorter exists; else 15 may. */
static int normal_digits(char text[RECORD_DOUBLE_BYTES], double value)
{
    int len = digits_of(text, 16, value);
    if (strtod(text, NULL) != value)
        return digits_of(text, 17, value);
    if (len < 16)
        return len;
    char shorter[RECORD_DOUBLE_BYTES];
    int shorter_len = digits_of(shorter, 15, value);
    if (strtod(shorter, NULL) != value)
        return len;
    memcpy(text, shorter, sizeof shorter);
    return shorter_len;
}

/* Fewer digits than 15 tell subnormal numbers apart. */
static int subnormal_digits(char text[RECORD_DOUBLE_BYTES], double value)
{
    int digits = 1;
    int len = digits_of(text, digits, value);
    while (digits < 17 && strtod(text, NULL) != value)
        len = digits_of(text, ++digits, value);
    return len;
}

/* A trainer that called setlocale() must not put a comma into our numbers.
 * glibc's "C" is static: newlocale neither allocates nor fails for it. */
static int shortest_digits(char text[RECORD_DOUBLE_BYTES], double value)
{
    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    int len = fpclassify(value) == FP_SUBNORMAL ? subnormal_digits(text, value)
                                                : normal_digits(text, value);
    uselocale(before);
    return len;
}

int report_record_double(char text[RECORD_DOUBLE_BYTES], double value)
{
    if (isnan(value))
        return snprintf(text, RECORD_DOUBLE_BYTES, "\"NaN\"");
    if (isinf(value))
        return snprintf(text, RECORD_DOUBLE_BYTES,
                        value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return shortest_digits(text, value);
}

bool report_record_name_is_valid(const char *name)
{
    if (name == NULL || *name == '\0' ||
        strnlen(name, RECORD_NAME_BYTES) == RECORD_NAME_BYTES)
        return false;
    while (*name != '\0') {
        uint32_t code;
        int len = report_record_utf8(name, &code);
        if (len == 0 || code < 0x20 || (code >= 0x7F && code < 0xA0))
            return false;
        name += len;
    }
    return true;
}

static bool names_are_valid(size_t n, const struct hypertune_metric metrics[])
{
    for (size_t i = 0; i < n; i++) {
        if (!report_record_name_is_valid(metrics[i].name))
            return false;
        for (size_t j = 0; j < i; j++)
            if (strcmp(metrics[i].name, metrics[j].name) == 0)
                return false; /* twice the same key is no JSON object */
    }
    return true;
}

static void put_metrics(struct line *line, size_t n,
                        const struct hypertune_metric metrics[])
{
    for (size_t i = 0; i < n; i++) {
        char number[RECORD_DOUBLE_BYTES];
        put_text(line, i == 0 ? ",\"m\":{" : ",");
        put_string(line, metrics[i].name);
        put_text(line, ":");
        put_bytes(line, number,
                  (size_t)report_record_double(number, metrics[i].value));
    }
    put_text(line, "}");
}

int report_record_format(const struct report_record *record,
                         char out[RECORD_LINE_BYTES])
{
    const char *path = record->checkpoint;
    bool has_path = path != NULL && *path != '\0';
    if (record->n == 0 || record->n > RECORD_METRICS ||
        !names_are_valid(record->n, record->metrics) ||
        (has_path &&
         strnlen(path, RECORD_CHECKPOINT_BYTES) == RECORD_CHECKPOINT_BYTES))
        return -EINVAL;
    struct line line = {.data = out, .cap = RECORD_LINE_BYTES};
    put_text(&line, "{\"w\":\"");
    put_text(&line, record->writer);
    put_text(&line, "\",\"n\":");
    put_number(&line, record->seq);
    put_text(&line, ",\"t\":");
    put_number(&line, record->time_ms);
    if (record->step >= 0) {
        put_text(&line, ",\"s\":");
        put_number(&line, record->step);
    }
    put_metrics(&line, record->n, record->metrics);
    if (has_path) {
        put_text(&line, ",\"c\":");
        put_string(&line, path);
    }
    put_text(&line, "}\n");
    return line.full ? -EINVAL : (int)line.len;
}

int report_record_format_checkpoint(int64_t time_ms, int64_t step,
                                    const char *path,
                                    char out[RECORD_LINE_BYTES])
{
    struct line line = {.data = out, .cap = RECORD_LINE_BYTES};
    put_text(&line, "{\"t\":");
    put_number(&line, time_ms);
    if (step >= 0) {
        put_text(&line, ",\"s\":");
        put_number(&line, step);
    }
    put_text(&line, ",\"c\":");
    put_string(&line, path);
    put_text(&line, "}\n");
    return line.full || strnlen(path, RECORD_CHECKPOINT_BYTES) ==
                            RECORD_CHECKPOINT_BYTES
               ? -EINVAL
               : (int)line.len;
}
