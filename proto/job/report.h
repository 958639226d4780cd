/* report.h - one measurement record as it travels and as it lies in a file.
 *
 * Record key: (trial, attempt, replica, writer, seq). writer is 64 random bits
 * per reporting process, renewed after fork; seq counts from 1 per writer. A
 * record that comes again changes nothing. */
#ifndef HT_PROTO_JOB_REPORT_H
#define HT_PROTO_JOB_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

struct report_metric {
    const char *name;
    double value; /* may be NaN or infinite: stored, shown, never the best */
};

/* One record of one replica; texts and metrics in the arena that it was read
 * into. */
struct report {
    uint64_t writer; /* 0: read from a foreign file, seq is a hash */
    int64_t seq;     /* >= 1 */
    int64_t step;
    bool has_step;          /* false: the tuner counts */
    int64_t time_ms;        /* wall clock of the report */
    const char *checkpoint; /* "" when none */
    size_t n_metrics;       /* 1..HT_MAX_METRICS */
    const struct report_metric *metrics;
};

/* Appends the record as one JSON object without newline:
 * {"w":"00f3...","n":1,"t":1795231102098,"s":4,"m":{"accuracy":0.93},"c":""} */
void report_text(const struct report *report, struct text *out);

/* Reads one record from its object.
 * HT_INVALID  a member is missing, of a wrong kind, or beyond its limit */
enum ht_status report_read(struct arena *arena, const struct node *map,
                           struct report *report, struct ht_error *err);

/* Reads one line of a reports.jsonl file. */
enum ht_status report_parse(struct arena *arena, const char *line, size_t len,
                            struct report *report, struct ht_error *err);

/* Reads one line of cloudml-hypertune's metric file (hypertune format 0.1.0:
 * metric and global_step as text, timestamp a number). The metric is found by
 * the `n` names of the study first; a line with none of them but with exactly
 * one foreign member takes that. writer is 0, seq a 63-bit hash of the line.
 * HT_INVALID  no metric in it, or not such a line (torn, empty) */
enum ht_status report_parse_foreign(struct arena *arena, const char *line,
                                    size_t len, size_t n,
                                    const char *const names[],
                                    struct report *report,
                                    struct ht_error *err);

#endif
