#include "tuner/backup/retention.h"

#include <string.h>
#include <time.h>

#include "proto/base/clock.h"

#define SCHEDULED "scheduled-"

enum { HOUR_MS = 3600000, STAMP_CHARS = 20 };

/* No colons: names go into commands and onto other file systems. */
void retention_name(char name[RETENTION_NAME_BYTES], bool scheduled,
                    int64_t wall_ms)
{
    const time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(name, RETENTION_NAME_BYTES,
             scheduled ? SCHEDULED "%Y-%m-%dT%H-%M-%SZ" : "%Y-%m-%dT%H-%M-%SZ",
             &parts);
}

bool retention_is_scheduled(const char *name, int64_t *wall_ms)
{
    char stamp[STAMP_CHARS + 1];
    const size_t len = strlen(SCHEDULED);
    if (strncmp(name, SCHEDULED, len) != 0 || strlen(name + len) != STAMP_CHARS)
        return false;
    memcpy(stamp, name + len, sizeof stamp);
    stamp[13] = stamp[13] == '-' ? ':' : 'x';
    stamp[16] = stamp[16] == '-' ? ':' : 'x';
    return clock_read_stamp(stamp, wall_ms);
}

/* Keeps the first of each of the newest `most` spans. */
static void keep_of_each(size_t n, const int64_t made_ms[], bool keep[],
                         int64_t span_ms, int most)
{
    int64_t span = -1;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && made_ms[i] / span_ms == span)
            continue;
        span = made_ms[i] / span_ms;
        if (most-- <= 0)
            return;
        keep[i] = true;
    }
}

void retention_choose(size_t n, const int64_t made_ms[], bool keep[])
{
    for (size_t i = 0; i < n; i++)
        keep[i] = false;
    keep_of_each(n, made_ms, keep, HOUR_MS, RETENTION_HOURS);
    keep_of_each(n, made_ms, keep, (int64_t)24 * HOUR_MS, RETENTION_DAYS);
}
