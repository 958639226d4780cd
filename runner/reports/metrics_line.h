/* metrics_line.h - one line of a metrics file that the user's own program
 * writes: JSON lines, or CSV with a header of metric names and "step". */
#ifndef HT_RUNNER_REPORTS_METRICS_LINE_H
#define HT_RUNNER_REPORTS_METRICS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/job/report.h"

enum { METRICS_LINE_COLUMNS = 256 };

struct metrics_header { /* what each column of a CSV file holds */
    size_t n;
    int metric[METRICS_LINE_COLUMNS]; /* index; -1: step, -2: other */
};

struct metrics_line { /* one line, parsed once; in the arena it was given */
    bool csv;
    struct strings cells;   /* of CSV, at most METRICS_LINE_COLUMNS */
    const struct node *map; /* of JSON; NULL: no object, or too long */
};
/* `text` has no line end and need not be NUL-terminated. Never fails: what
 * does not begin with '{' is CSV, and an object that is not JSON has no map. */
struct metrics_line metrics_line_parse(struct arena *arena, const char *text,
                                       size_t len);

/* Reads a line of CSV as the heading of the following ones, when it is the
 * first of the file or a cell is the name of a metric, as in a file that
 * several runs append to. False: it is no heading. */
bool metrics_line_read_header(struct metrics_header *header,
                              const struct strings *metrics,
                              const struct metrics_line *line, bool first);

/* The cells, or the names of the object's numbers; in the arena. */
struct strings metrics_line_names(struct arena *arena,
                                  const struct metrics_line *line);

/* Fills metrics and step; false when no metric of the study is in the line.
 * Cells without a number are left out. */
bool metrics_line_read(struct arena *arena, const struct metrics_header *header,
                       const struct strings *metrics,
                       const struct metrics_line *line, struct report *report);

#endif
