#include "proto/base/whole.h"

#include <errno.h>
#include <unistd.h>

enum { HERE = -1 }; /* an offset: where the descriptor is */

static ssize_t read_some(int fd, char *buffer, size_t size, int64_t offset)
{
    ssize_t n;
    do
        n = offset == HERE ? read(fd, buffer, size)
                           : pread(fd, buffer, size, offset);
    while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t write_some(int fd, const char *bytes, size_t len, int64_t offset)
{
    ssize_t n;
    do
        n = offset == HERE ? write(fd, bytes, len)
                           : pwrite(fd, bytes, len, offset);
    while (n < 0 && errno == EINTR);
    return n;
}

static int64_t beyond(int64_t offset, size_t len)
{
    return offset == HERE ? HERE : offset + (int64_t)len;
}

static ssize_t read_whole(int fd, char *buffer, size_t size, int64_t offset)
{
    size_t have = 0;
    ssize_t n = 1;
    while (n > 0 && have < size) {
        n = read_some(fd, buffer + have, size - have, beyond(offset, have));
        have += n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? -1 : (ssize_t)have;
}

static bool write_whole(int fd, const char *bytes, size_t len, int64_t offset)
{
    size_t done = 0;
    ssize_t n = 1;
    while (n > 0 && done < len) {
        n = write_some(fd, bytes + done, len - done, beyond(offset, done));
        done += n > 0 ? (size_t)n : 0;
    }
    if (n == 0)
        errno = EIO;
    return n > 0;
}

ssize_t whole_read(int fd, void *buffer, size_t size)
{
    return read_whole(fd, buffer, size, HERE);
}

ssize_t whole_read_at(int fd, void *buffer, size_t size, int64_t offset)
{
    return read_whole(fd, buffer, size, offset);
}

bool whole_write(int fd, const void *bytes, size_t len)
{
    return write_whole(fd, bytes, len, HERE);
}

bool whole_write_at(int fd, const void *bytes, size_t len, int64_t offset)
{
    return write_whole(fd, bytes, len, offset);
}
