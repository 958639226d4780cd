/* metrics_seen.h - the metrics that one replica reported: names with first and
 * last value and place, to explain a trial that ends without its objective.
 *
 * Its size is bounded, and a restarted runner makes it again from the files. */
#ifndef HT_RUNNER_REPORTS_METRICS_SEEN_H
#define HT_RUNNER_REPORTS_METRICS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/job/report.h"

enum { METRICS_SEEN_NAMES = 10 };

struct metrics_seen_name {
    const char *name;
    int64_t n; /* values; 0: only the heading of a column */
    double first, last;
    const char *file; /* of the last value, as users name it */
    int64_t line;     /* in it, from 1 */
};

struct metrics_seen {
    struct arena *arena; /* of the names */
    size_t n;
    struct metrics_seen_name names[METRICS_SEEN_NAMES];
    uint32_t metrics; /* of the study: bit i is set when number i came */
};

/* `file` outlives `seen`. */
void metrics_seen_note(struct metrics_seen *seen, const struct strings *metrics,
                       const struct report *report, const char *file,
                       int64_t line);
/* A column that is no metric of the study. */
void metrics_seen_note_column(struct metrics_seen *seen, const char *name,
                              const char *file, int64_t line);
/* Whether each metric of the study came. */
bool metrics_seen_is_whole(const struct metrics_seen *seen,
                           const struct strings *metrics);

/* Appends the objects of all names to the list that is open in `out`. */
void metrics_seen_text(const struct metrics_seen *seen, const char *replica,
                       struct text *out);
/* Appends the member "line": the line of stdout or stderr with a number whose
 * name is most like `metric`; nothing when there is none in the first
 * megabytes. */
void metrics_seen_line_text(const char *folder, const char *replica,
                            const char *metric, struct text *out);

#endif
