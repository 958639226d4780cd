#include "runner/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "runner/base/folder.h"

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
    (void)n; /* there is no other place to report it */
    text_free(&line);
    errno = code;
}

enum { LINE_BYTES = 1024 };

void runner_log_of_replica(const char *replica_folder, const char *format, ...)
{
    char name[FOLDER_LOG_NAME_BYTES];
    char path[PATH_MAX];
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    size_t len = strlen(line);
    line[len++] = '\n';
    (void)snprintf(path, sizeof path, "%s/%s", replica_folder,
                   folder_log_name(name, RUNNER_STREAM, 0));
    /* A pipe without a reader refuses instead of holding us up. */
    const int fd = open(path,
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                            O_NONBLOCK | O_NOCTTY,
                        0644);
    if (fd < 0)
        return;
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size + (off_t)len <= HT_LOG_SEGMENT) {
        const ssize_t n = write(fd, line, len);
        (void)n;
    }
    close(fd);
}
