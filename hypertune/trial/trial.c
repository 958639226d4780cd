#include "hypertune/trial/trial.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/trial/commands.h"
#include "proto/base/clock.h"

bool trial_read_number(const char *text, double *value)
{
    char *end;
    const double number = strtod(text, &end);
    /* strtod() also takes blanks, hexadecimal digits and nan(...). */
    if (end == text || *end != '\0' || isspace((unsigned char)*text) ||
        strpbrk(text, "xX(") != NULL)
        return false;
    *value = number;
    return true;
}

bool trial_read_integer(const char *text, int64_t *value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0')
        return false;
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    if (errno != 0)
        return false;
    *value = number;
    return true;
}

bool trial_read_duration(const char *text, int *ms)
{
    int64_t read;
    if (!clock_read_duration(text, &read) || read > INT_MAX)
        return false;
    *ms = (int)read;
    return true;
}

bool trial_option(const char *name, int argc, char **argv, int *at,
                  const char **value)
{
    const char *word = argv[*at];
    size_t len = strlen(name);
    if (strncmp(word, name, len) != 0)
        return false;
    if (word[len] == '=' && word[1] == '-') {
        *value = word + len + 1;
        return true;
    }
    if (word[len] != '\0')
        return false;
    *value = *at + 1 < argc ? argv[++*at] : NULL;
    return true;
}

const struct trial_command *trial_command_find(const char *name)
{
    static const struct trial_command commands[] = {
        {"report", trial_command_report, trial_help_report},
        {"checkpoint", trial_command_checkpoint, trial_help_checkpoint},
        {"should-stop", trial_command_should_stop, trial_help_should_stop},
        {"params", trial_command_params, trial_help_params}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int trial_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("hypertune: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return TRIAL_EXIT_USAGE;
}
