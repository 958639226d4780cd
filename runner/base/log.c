#include "runner/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "proto/base/text.h"

void runner_log(enum runner_log_level level, const char *event,
                const char *format, ...)
{
    static const char *const names[] = {"info", "warn", "error"};
    const int code = errno;
    char pairs[2048];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(pairs, sizeof pairs, format, args);
    va_end(args);
    struct text line = {0};
    text_printf(&line, "%s %s%s", names[level], event, *pairs ? " " : "");
    text_escape(&line, pairs);
    text_puts(&line, "\n");
    const ssize_t n = write(STDERR_FILENO, line.data, line.len);
    (void)n; /* nobody is left to tell */
    text_free(&line);
    errno = code;
}
