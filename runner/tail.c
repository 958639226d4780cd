#include "runner/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/arena.h"

void tail_init(struct tail *tail, const char *path)
{
    *tail = (struct tail){.path = path};
}

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
uint64_t tail_hash(uint64_t seed, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t hash = seed ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++) {
        hash ^= at[i];
        hash *= 0x100000001b3u;
    }
    return hash;
}

static uint64_t hash_state(const struct stat *status)
{
    const uint64_t parts[] = {
        (uint64_t)status->st_dev, (uint64_t)status->st_ino,
        (uint64_t)status->st_size, (uint64_t)status->st_mtim.tv_sec,
        (uint64_t)status->st_mtim.tv_nsec};
    return tail_hash(0, parts, sizeof parts) | 1; /* 0: never looked */
}

static ssize_t read_at(int fd, char *buffer, size_t size, int64_t offset)
{
    size_t have = 0;
    while (have < size) {
        const ssize_t n =
            pread(fd, buffer + have, size - have, offset + (int64_t)have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

/* Whether the file still has, before `offset`, the line that was taken. */
static bool goes_on(const struct tail *tail, int fd, int64_t size, char *buffer)
{
    if (size < tail->offset)
        return false;
    const size_t len = (size_t)(tail->offset - tail->line_start);
    if (len == 0)
        return true;
    return read_at(fd, buffer, len, tail->line_start) == (ssize_t)len &&
           tail_hash(0, buffer, len) == tail->line_hash;
}

static void start_over(struct tail *tail)
{
    tail->offset = 0;
    tail->line_start = 0;
    tail->overlong = false;
}

static int open_regular(const char *path, struct stat *status)
{
    const int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, status) != 0 || !S_ISREG(status->st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Moves over a line of `len` bytes, newline included. */
static void pass(struct tail *tail, const char *line, size_t len)
{
    tail->line_start = tail->offset;
    tail->line_hash = tail_hash(0, line, len);
    tail->offset += (int64_t)len;
}

/* Takes what one buffer holds; returns the bytes that were used. */
static size_t take_lines(struct tail *tail, const char *buffer, size_t len,
                         tail_line *take, void *context)
{
    size_t used = 0;
    const char *newline;
    while ((newline = memchr(buffer + used, '\n', len - used)) != NULL) {
        const size_t n = (size_t)(newline - (buffer + used));
        if (!tail->overlong)
            take(context, buffer + used, n, tail->offset);
        tail->overlong = false;
        pass(tail, buffer + used, n + 1);
        used += n + 1;
    }
    return used;
}

static bool read_lines(struct tail *tail, int fd, size_t budget, bool final,
                       tail_line *take, void *context, char *buffer)
{
    size_t taken = 0;
    while (taken < budget) {
        const ssize_t n = read_at(fd, buffer, TAIL_LINE_BYTES, tail->offset);
        if (n <= 0)
            return false;
        const size_t len = (size_t)n;
        size_t used = take_lines(tail, buffer, len, take, context);
        if (used == 0 && len == TAIL_LINE_BYTES) {
            tail->skipped += !tail->overlong;
            tail->overlong = true;
            pass(tail, buffer, len);
            used = len;
        } else if (used < len && len < TAIL_LINE_BYTES) {
            if (!final)
                return false;
            if (!tail->overlong)
                take(context, buffer + used, len - used, tail->offset);
            pass(tail, buffer + used, len - used);
            return false;
        }
        taken += used;
    }
    return true;
}

bool tail_read(struct tail *tail, size_t budget, bool final, tail_line *take,
               void *context)
{
    struct stat status;
    const int fd = open_regular(tail->path, &status);
    if (fd < 0)
        return false;
    bool more = false;
    const uint64_t state = hash_state(&status);
    if (final || state != tail->state) {
        char *buffer = ht_xcalloc(TAIL_LINE_BYTES, 1);
        if (!goes_on(tail, fd, status.st_size, buffer))
            start_over(tail);
        more = read_lines(tail, fd, budget, final, take, context, buffer);
        tail->state = more ? 0 : state;
        free(buffer);
    }
    close(fd);
    return more;
}
