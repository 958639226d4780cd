#include "tuner/http/refused.h"

#include <string.h>

#include "proto/base/log.h"
#include "tuner/base/budget.h"

enum { METHOD_BYTES = 33, PATH_BYTES = 257, WHY_BYTES = 257 };

/* So that no stranger's text ends a field of the line. */
static const char *plain(char *out, size_t size, const char *text,
                         const char *hurts)
{
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < size; n++)
        if (strchr(hurts, text[n]) != NULL)
            out[n] = '?';
        else
            out[n] = text[n];
    out[n] = '\0';
    return out;
}

void refused_write(struct refused_log *log, const struct refused *refused,
                   int64_t now_ms)
{
    if (now_ms / 1000 != log->second) {
        log->second = now_ms / 1000;
        log->lines = 0;
    }
    if (++log->lines > budget_of(BUDGET_REFUSED_LINES)) {
        log->rest++;
        budget_exceeded(BUDGET_REFUSED_LINES);
        return;
    }
    char method[METHOD_BYTES], path[PATH_BYTES], why[WHY_BYTES];
    log_event(LOG_INFO, "http.refused",
              "status=%d method=\"%s\" path=\"%s\" peer=%s principal=\"%s\" "
              "unlogged=%lld why=\"%s\"",
              refused->status,
              plain(method, sizeof method, refused->method, "\" \\"),
              plain(path, sizeof path, refused->path, "\" \\"), refused->peer,
              refused->principal, (long long)log->rest,
              plain(why, sizeof why, refused->why, "\"\\"));
    log->rest = 0;
}
