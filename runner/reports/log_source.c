#include "runner/reports/log_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "runner/shim/log.h"

static int open_segment(const struct log_source *source, int64_t offset)
{
    char name[SHIM_LOG_NAME_BYTES];
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", source->folder,
                   shim_log_name(name, source->stream, offset));
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* The first byte of the segment `name`, -1 when it is none of this stream. */
static int64_t segment_of(const struct log_source *source, const char *name)
{
    const size_t len = strlen(source->stream);
    if (strncmp(name, source->stream, len) != 0 || name[len] != '.')
        return -1;
    char *end;
    const long long offset = strtoll(name + len + 1, &end, 10);
    return strcmp(end, ".log") == 0 ? offset : -1;
}

/* The nearest kept segment that begins behind the offset, -1 if there is
 * none. */
static int64_t find_later_segment(const struct log_source *source)
{
    int64_t found = -1;
    DIR *dir = opendir(source->folder);
    if (dir == NULL)
        return -1;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        const int64_t offset = segment_of(source, entry->d_name);
        if (offset > source->offset && (found < 0 || offset < found))
            found = offset;
    }
    closedir(dir);
    return found;
}

int64_t log_source_end(const struct log_source *source)
{
    int64_t end = 0;
    DIR *dir = opendir(source->folder);
    if (dir == NULL)
        return 0;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        const int64_t offset = segment_of(source, entry->d_name);
        struct stat status;
        if (offset >= 0 && offset < INT64_MAX / 2 &&
            fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISREG(status.st_mode) && offset + status.st_size > end)
            end = offset + status.st_size;
    }
    closedir(dir);
    return end;
}

static size_t read_segment(const struct log_source *source, char *buffer,
                           size_t size)
{
    const int64_t into = source->offset % HT_LOG_SEGMENT;
    const int fd = open_segment(source, source->offset - into);
    if (fd < 0)
        return 0;
    if ((int64_t)size > HT_LOG_SEGMENT - into)
        size = (size_t)(HT_LOG_SEGMENT - into);
    ssize_t n;
    do {
        n = pread(fd, buffer, size, into);
    } while (n < 0 && errno == EINTR);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

size_t log_source_read(struct log_source *source, char *buffer, size_t size,
                       int64_t *at)
{
    size_t n = read_segment(source, buffer, size);
    if (n == 0) {
        const int64_t later = find_later_segment(source);
        /* Asked again: the shim may have filled this one up in between. */
        n = read_segment(source, buffer, size);
        if (n == 0 && later > source->offset) {
            source->offset = later;
            n = read_segment(source, buffer, size);
        }
    }
    *at = source->offset;
    source->offset += (int64_t)n;
    return n;
}
