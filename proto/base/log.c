#include "proto/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/base/whole.h"

/* Escaped, a byte takes four at most, and the event and the stamp have room. */
enum { PAIRS_BYTES = 2048, LINE_BYTES = 4 * PAIRS_BYTES + 512 };

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

void log_event(enum log_level level, const char *event, const char *format, ...)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    if (level < lowest_level)
        return;
    int saved = errno;
    char pairs[PAIRS_BYTES], whole[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(pairs, sizeof pairs, format, args);
    va_end(args);

    /* It may be said anywhere, also where no memory can be had. */
    struct text line = {.data = whole, .cap = sizeof whole};
    text_printf(&line, "%s %s", names[level], event);
    if (pairs[0] != '\0') {
        text_puts(&line, " ");
        text_escape(&line, pairs);
    }
    char stamp[CLOCK_STAMP_BYTES];
    if (is_stamped)
        text_printf(&line, " at=%s", clock_stamp(stamp, clock_wall_ms()));
    text_puts(&line, "\n");
    /* stderr may be a full pipe or closed; a log line is never worth failing.
     */
    (void)whole_write(STDERR_FILENO, line.data, line.len);
    errno = saved;
}
