/* metrics_line.h - one line of a metrics file that the user's own program
 * writes: JSON lines, or CSV with a header of metric names and "step". */
#ifndef HT_RUNNER_REPORTS_METRICS_LINE_H
#define HT_RUNNER_REPORTS_METRICS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/job/job.h"
#include "proto/job/report.h"

enum { METRICS_LINE_COLUMNS = 256 };

struct metrics_header { /* what each column of a CSV file holds */
    size_t n;
    int metric[METRICS_LINE_COLUMNS]; /* index; -1: step, -2: other */
};

/* True when the line begins a CSV file rather than a JSON object. */
bool metrics_line_is_header(const char *line, size_t len);
void metrics_line_read_header(struct metrics_header *header,
                              const struct strings *metrics, const char *line,
                              size_t len);

/* True when some cell of the line is the name of a metric: a heading, also in
 * the middle of a file that several runs have appended to. */
bool metrics_line_names_metric(struct arena *arena,
                               const struct strings *metrics, const char *line,
                               size_t len);

/* The cells of a line of CSV, or the names of the numbers of a JSON object, at
 * most METRICS_LINE_COLUMNS; in the arena. */
struct strings metrics_line_names(struct arena *arena, const char *line,
                                  size_t len);

/* Fills metrics and step; false when no metric of the study is in the line.
 * Cells that hold no number are left out. */
bool metrics_line_read(struct arena *arena, const struct metrics_header *header,
                       const struct strings *metrics, const char *line,
                       size_t len, struct report *report);

#endif
