/* slurm_time.c - times as Slurm writes them (sbatch(1), --time). */
#include <stdlib.h>
#include <string.h>

#include "proto/job/slurm.h"

/* So many that days in milliseconds fit an int64_t. */
enum { MOST_DIGITS = 9 };

static bool take_number(const char **text, int64_t *value)
{
    const size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > MOST_DIGITS)
        return false;
    *value = strtoll(*text, NULL, 10);
    *text += digits;
    return true;
}

int64_t slurm_time_ms(const char *text)
{
    int64_t days = 0, parts[3] = {0};
    size_t n = 0;
    const bool has_days = strchr(text, '-') != NULL;
    if (has_days && (!take_number(&text, &days) || *text++ != '-'))
        return 0;
    do {
        if (n == 3 || !take_number(&text, &parts[n++]))
            return 0;
    } while (*text == ':' && *text++ != '\0');
    if (*text != '\0')
        return 0;
    /* Behind days the first part is hours; without, one or two parts begin
     * with minutes. */
    const int64_t seconds = has_days || n == 3
                                ? (parts[0] * 60 + parts[1]) * 60 + parts[2]
                                : parts[0] * 60 + parts[1];
    return (days * 86400 + seconds) * 1000;
}
