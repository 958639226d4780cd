/* report_record.h - one record line of proto/README.md section 2, as text.
 *
 * Allocates nothing and follows no locale, so that any thread of any trainer
 * may format. */
#ifndef HT_HYPERTUNE_LIB_REPORT_RECORD_H
#define HT_HYPERTUNE_LIB_REPORT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hypertune_metric; /* hypertune/hypertune.h */

/* The bounds of proto/base/limits.h, repeated because this library
 * includes nothing of proto. */
enum {
    RECORD_LINE_BYTES = 8192,       /* one line with its newline */
    RECORD_NAME_BYTES = 128,        /* metric name with its NUL */
    RECORD_CHECKPOINT_BYTES = 4096, /* checkpoint path with its NUL */
    RECORD_METRICS = 16,
    RECORD_DOUBLE_BYTES = 32
};

/* One line of a reports file; all is borrowed. */
struct report_record {
    const char *writer; /* 16 hex digits */
    int64_t seq;        /* from 1 */
    int64_t time_ms;    /* wall clock */
    int64_t step;       /* negative: left out, the server counts */
    size_t n;           /* 1 to RECORD_METRICS */
    const struct hypertune_metric *metrics; /* names are set */
    const char *checkpoint;                 /* NULL or "": left out */
};

/* Writes the record and a newline; returns the bytes, without a NUL, or
 * -EINVAL  a name is empty, twice there, too long, not UTF-8 or has control
 *          characters; the path or the whole line is too long */
int report_record_format(const struct report_record *record,
                         char line[RECORD_LINE_BYTES]);

/* The same of a line of checkpoints.jsonl (proto/README.md section 5); a
 * negative step is left out. -EINVAL: the path is too long. */
int report_record_format_checkpoint(int64_t time_ms, int64_t step,
                                    const char *path,
                                    char line[RECORD_LINE_BYTES]);

/* 1 to 127 bytes of UTF-8 without control characters; NULL is not. */
bool report_record_name_is_valid(const char *name);

/* The fewest significant digits, at most 17, that read back to the same bits,
 * as JSON: 0.1, 1e-07, or "NaN", "Infinity", "-Infinity" in quotes. */
int report_record_double(char text[RECORD_DOUBLE_BYTES], double value);

/* Decodes one UTF-8 sequence; returns its bytes, or 0 when it is not valid
 * (overlong, surrogate, beyond U+10FFFF, cut). */
int report_record_utf8(const char *text, uint32_t *code);

#endif
