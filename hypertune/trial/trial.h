/* trial.h - arguments and output of the in-trial commands. */
#ifndef HT_HYPERTUNE_TRIAL_TRIAL_H
#define HT_HYPERTUNE_TRIAL_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whole texts; false when they are something else. */
bool trial_read_number(const char *text, double *value);
bool trial_read_integer(const char *text, int64_t *value);
/* "90", "1.5s", "2m30s", "200ms"; bare numbers are seconds; up to 24 days. */
bool trial_read_duration(const char *text, int *ms);

/* One option of a command line. When argv[*at] is `name`, or `name`=VALUE,
 * sets *value and moves *at onto the last argument it used; *value is NULL
 * when none is left. */
bool trial_option(const char *name, int argc, char **argv, int *at,
                  const char **value);

/* Prints "hypertune: SENTENCE" to stderr; returns TRIAL_EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int trial_usage(const char *format, ...);

/* Prints as one word of a POSIX shell, as the inside of a JSON string with
 * its quotes, or with control bytes as \xNN for a terminal. */
void trial_print_shell(FILE *out, const char *text);
void trial_print_json(FILE *out, const char *text);
void trial_print_plain(FILE *out, const char *text);

#endif
