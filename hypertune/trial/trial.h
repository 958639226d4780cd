/* trial.h - arguments of the in-trial commands. */
#ifndef HT_HYPERTUNE_TRIAL_TRIAL_H
#define HT_HYPERTUNE_TRIAL_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

/* Whole texts; false when they are something else. */
bool trial_read_number(const char *text, double *value);
/* Decimal, with or without a sign, within 64 bits. */
bool trial_read_integer(const char *text, int64_t *value);
/* As clock_read_duration(); up to 24 days. */
bool trial_read_duration(const char *text, int *ms);

/* One option of a command line. When argv[*at] is `name`, or `name`=VALUE,
 * sets *value and moves *at onto the last argument it used; *value is NULL
 * when none is left. */
bool trial_option(const char *name, int argc, char **argv, int *at,
                  const char **value);

/* Prints "hypertune: SENTENCE" to stderr; returns TRIAL_EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int trial_usage(const char *format, ...);

#endif
