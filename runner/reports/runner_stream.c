#include "runner/reports/runner_stream.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "runner/shim/log.h"

enum { LINE_BYTES = 1024 };

void runner_stream_write(const char *replica_folder, const char *format, ...)
{
    char name[SHIM_LOG_NAME_BYTES];
    char path[PATH_MAX];
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    size_t len = strlen(line);
    line[len++] = '\n';
    (void)snprintf(path, sizeof path, "%s/%s", replica_folder,
                   shim_log_name(name, WORDS_STREAM, 0));
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
