/* trial_pattern.h - metrics in the lines of a pipe, with the syntax of
 * proto/pattern.h and libc alone.
 *
 * 'epoch {step} acc={accuracy}' matches anywhere in a line; runs of blanks
 * match any run; {name} takes a number; {*}, also written .*, takes any text
 * up to the next literal. */
#ifndef HT_HYPERTUNE_TRIAL_PATTERN_H
#define HT_HYPERTUNE_TRIAL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hypertune/hypertune.h"
#include "hypertune/report_record.h"

enum {
    TRIAL_PATTERN_BYTES = 1024, /* of a pattern with its NUL */
    TRIAL_PATTERN_PIECES = 64
};

enum trial_piece_kind { PIECE_LITERAL, PIECE_ANY, PIECE_STEP, PIECE_METRIC };

struct trial_piece {
    enum trial_piece_kind kind;
    const char *text; /* literal or name, inside the pattern's own text */
};

struct trial_pattern {
    char text[TRIAL_PATTERN_BYTES * 2]; /* pieces, each with its NUL */
    size_t n;
    struct trial_piece pieces[TRIAL_PATTERN_PIECES];
};

struct trial_match {
    int64_t step; /* -1 when the pattern has none */
    size_t n;
    struct hypertune_metric metrics[RECORD_METRICS]; /* names: the pattern's */
};

/* NULL when the pattern can be used (in place: do not copy the struct), else
 * what is wrong with it. */
const char *trial_pattern_compile(struct trial_pattern *pattern,
                                  const char *text);

/* Does the line, which ends at its NUL, match anywhere? Fills *match then. */
bool trial_pattern_match(const struct trial_pattern *pattern, const char *line,
                         struct trial_match *match);

#endif
