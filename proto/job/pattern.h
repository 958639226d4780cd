/* pattern.h - metrics read from what a program prints, without any library.
 *
 * 'epoch {step} acc={accuracy}' matches anywhere in a line: literal text must
 * be equal (runs of blanks match any run), {name} takes one number. {step} is
 * the step, a whole number from 0; {*}, also written .*, takes any text up to
 * the next literal. {{ and }} are the braces themselves. A pattern that begins
 * with a letter, a digit or a field begins at the start of a word, so
 * loss={loss} reads neither val_loss=0.3 nor val-loss=0.3.
 *
 * Needs libc alone: the static tool inside containers reads pipes with it. */
#ifndef HT_PROTO_JOB_PATTERN_H
#define HT_PROTO_JOB_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/report.h"

struct pattern;

/* HT_INVALID  no {name}, an unclosed brace, two fields side by side, a name
 *             that is twice there or none, or over HT_MAX_METRICS of them */
enum ht_status pattern_compile(struct arena *arena, const char *text,
                               struct pattern **pattern, struct ht_error *err);

/* Fills metrics and step of `report` (in `arena`) when the line matches. */
bool pattern_match(struct arena *arena, const struct pattern *pattern,
                   const char *line, size_t len, struct report *report);

/* The names in braces but step and *, for checks: *n of them. */
const char *const *pattern_names(const struct pattern *pattern, size_t *n);

#endif
