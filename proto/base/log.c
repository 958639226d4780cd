#include "proto/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"

static enum log_level lowest_level = LOG_INFO;
static bool is_stamped = false;

void log_set_level(enum log_level lowest)
{
    lowest_level = lowest;
}

void log_set_stamped(bool stamped)
{
    is_stamped = stamped;
}

/* stderr may be a full pipe or closed; a log line is never worth failing. */
static void write_all(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

void log_event(enum log_level level, const char *event, const char *format, ...)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    if (level < lowest_level)
        return;
    int saved = errno;
    char pairs[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(pairs, sizeof pairs, format, args);
    va_end(args);

    struct text line = {0};
    text_printf(&line, "%s %s", names[level], event);
    if (pairs[0] != '\0') {
        text_puts(&line, " ");
        text_escape(&line, pairs);
    }
    char stamp[CLOCK_STAMP_BYTES];
    if (is_stamped)
        text_printf(&line, " at=%s", clock_stamp(stamp, clock_wall_ms()));
    text_puts(&line, "\n");
    write_all(line.data, line.len);
    text_free(&line);
    errno = saved;
}
