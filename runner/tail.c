#include "runner/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/arena.h"
#include "runner/beneath.h"

void tail_init(struct tail *tail, const char *path)
{
    *tail = (struct tail){.path = path, .line = 1};
}

void tail_init_beneath(struct tail *tail, const char *root, const char *path)
{
    *tail = (struct tail){.path = path, .root = root, .line = 1};
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

static struct tail_look look_at(const struct stat *status)
{
    return (struct tail_look){.device = (uint64_t)status->st_dev,
                              .inode = (uint64_t)status->st_ino,
                              .size = status->st_size,
                              .seconds = status->st_mtim.tv_sec,
                              .nanoseconds = status->st_mtim.tv_nsec};
}

static bool is_same(const struct tail_look *a, const struct tail_look *b)
{
    return a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
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
    tail->line = 1;
    tail->overlong = false;
}

/* The name of what was found, whatever happens to its path. */
static int open_beneath(const struct tail *tail, int flags)
{
    const int place = beneath_open(tail->root, tail->path);
    if (place < 0)
        return -1;
    struct stat status;
    char name[32];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", place);
    const int fd = fstat(place, &status) == 0 && S_ISREG(status.st_mode)
                       ? open(name, flags)
                       : -1;
    close(place);
    return fd;
}

static int open_regular(const struct tail *tail, struct stat *status)
{
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
    if (tail->path == NULL)
        return -1;
    const int fd = tail->root != NULL ? open_beneath(tail, FLAGS)
                                      : open(tail->path, FLAGS | O_NOFOLLOW);
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

struct reader { /* one tail_read() */
    struct tail *tail;
    int fd;
    bool final;
    tail_line *take;
    void *context;
    char *buffer; /* TAIL_LINE_BYTES */
};

/* Takes the lines in the buffer's first `len` bytes; returns their length. */
static size_t take_lines(const struct reader *reader, size_t len)
{
    struct tail *tail = reader->tail;
    const char *buffer = reader->buffer;
    size_t used = 0;
    const char *newline;
    while ((newline = memchr(buffer + used, '\n', len - used)) != NULL) {
        const size_t n = (size_t)(newline - (buffer + used));
        if (!tail->overlong)
            reader->take(reader->context, buffer + used, n, tail->offset);
        tail->overlong = false;
        tail->line++;
        pass(tail, buffer + used, n + 1);
        used += n + 1;
    }
    return used;
}

/* What stands behind the last newline of the file; nobody goes on with it. */
static void take_torn(const struct reader *reader, const char *line, size_t len)
{
    if (!reader->tail->overlong)
        reader->take(reader->context, line, len, reader->tail->offset);
    pass(reader->tail, line, len);
}

static void pass_overlong(const struct reader *reader)
{
    reader->tail->skipped += !reader->tail->overlong;
    reader->tail->overlong = true;
    pass(reader->tail, reader->buffer, TAIL_LINE_BYTES);
}

/* True when the budget ended before the file. */
static bool read_lines(const struct reader *reader, size_t budget)
{
    size_t taken = 0;
    while (taken < budget) {
        if (reader->tail->offset >= TAIL_FILE_BYTES)
            return false;
        const ssize_t n = read_at(reader->fd, reader->buffer, TAIL_LINE_BYTES,
                                  reader->tail->offset);
        if (n <= 0)
            return false;
        const size_t len = (size_t)n;
        const size_t used = take_lines(reader, len);
        if (len < TAIL_LINE_BYTES) {
            if (reader->final && used < len)
                take_torn(reader, reader->buffer + used, len - used);
            return false;
        }
        if (used == 0)
            pass_overlong(reader);
        taken += used > 0 ? used : len;
    }
    return true;
}

bool tail_read(struct tail *tail, size_t budget, bool final, tail_line *take,
               void *context)
{
    struct stat status;
    const int fd = open_regular(tail, &status);
    if (fd < 0)
        return false;
    bool more = false;
    const struct tail_look look = look_at(&status);
    if (final || !is_same(&look, &tail->look)) {
        const struct reader reader = {.tail = tail,
                                      .fd = fd,
                                      .final = final,
                                      .take = take,
                                      .context = context,
                                      .buffer = ht_xcalloc(TAIL_LINE_BYTES, 1)};
        if (!goes_on(tail, fd, status.st_size, reader.buffer))
            start_over(tail);
        more = read_lines(&reader, budget);
        tail->look = more ? (struct tail_look){.inode = 0} : look;
        free(reader.buffer);
    }
    close(fd);
    return more;
}
