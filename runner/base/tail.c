#include "runner/base/tail.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/whole.h"
#include "runner/base/safe_path.h"

void tail_init(struct tail *tail, const char *path)
{
    *tail = (struct tail){.path = path, .line = 1, .kept = -1};
}

void tail_init_beneath(struct tail *tail, const char *root, const char *path)
{
    *tail = (struct tail){.path = path, .root = root, .line = 1, .kept = -1};
}

void tail_trust(struct tail *tail, const struct guest *guest, bool outside)
{
    tail->guest = guest;
    tail->outside = outside;
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

/* ---- whether the file was emptied ---- */

/* Copies between the page and memory, either way. The page may be behind the
 * end of the file by now, where an access is a signal; in the kernel it is an
 * error. */
static bool copy_sign(const void *from, void *into)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    ssize_t n;
    do {
        n = write(ends[1], from, TAIL_MARK_BYTES);
    } while (n < 0 && errno == EINTR);
    const bool copied = n == TAIL_MARK_BYTES &&
                        read(ends[0], into, TAIL_MARK_BYTES) == TAIL_MARK_BYTES;
    close(ends[0]);
    close(ends[1]);
    return copied;
}

static void clear_mark(struct tail_mark *mark)
{
    if (mark->page != NULL)
        munmap(mark->page, TAIL_MARK_BYTES);
    mark->page = NULL;
}

/* It stays unset when the file is empty or cannot be mapped. */
static void set_mark(struct tail_mark *mark, int fd)
{
    struct stat status;
    clear_mark(mark);
    if (fstat(fd, &status) != 0 || status.st_size == 0 ||
        getrandom(mark->sign, sizeof mark->sign, 0) !=
            (ssize_t)sizeof mark->sign)
        return;
    void *page =
        mmap(NULL, TAIL_MARK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED)
        return;
    mark->page = page;
    if (!copy_sign(mark->sign, page))
        clear_mark(mark);
}

/* It was set, and the file has been cut to nothing since. */
static bool is_emptied(const struct tail_mark *mark)
{
    unsigned char there[TAIL_MARK_BYTES];
    return mark->page != NULL && (!copy_sign(mark->page, there) ||
                                  memcmp(there, mark->sign, sizeof there) != 0);
}

/* ---- reading ---- */

/* Whether the file still has, before `offset`, the line that was taken. */
static bool is_continued(const struct tail *tail, int fd, int64_t size,
                         char *buffer)
{
    if (size < tail->offset)
        return false;
    const size_t len = (size_t)(tail->offset - tail->line_start);
    if (len == 0)
        return true;
    return whole_read_at(fd, buffer, len, tail->line_start) == (ssize_t)len &&
           tail_hash(0, buffer, len) == tail->line_hash;
}

static void start_over(struct tail *tail)
{
    tail->offset = 0;
    tail->line_start = 0;
    tail->line = 1;
    tail->overlong = false;
}

static bool is_kept(const struct tail *tail, const struct stat *status)
{
    struct stat kept;
    return tail->kept >= 0 && fstat(tail->kept, &kept) == 0 &&
           kept.st_dev == status->st_dev && kept.st_ino == status->st_ino;
}

/* `name` leads to the open file. */
static bool is_trusted(const struct tail *tail, const char *name,
                       const struct stat *status)
{
    char path[PATH_MAX];
    if (tail->guest == NULL)
        return true;
    if (!guest_may_write(tail->guest, status))
        return false;
    const ssize_t n = tail->outside ? readlink(name, path, sizeof path - 1) : 0;
    path[n > 0 ? n : 0] = '\0';
    return n >= 0 && !guest_hides(tail->guest, path);
}

/* The kept descriptor while its file has the name: a second open() would be an
 * event for those that watch the file. */
static int open_regular(const struct tail *tail, struct stat *status)
{
    if (tail->path == NULL)
        return -1;
    const int place = tail->root != NULL
                          ? safe_path_open(tail->root, tail->path)
                          : open(tail->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return -1;
    /* The name of what was found, whatever happens to its path. */
    char name[32];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", place);
    int fd = -1;
    if (fstat(place, status) == 0 && S_ISREG(status->st_mode) &&
        is_trusted(tail, name, status))
        fd = is_kept(tail, status)
                 ? tail->kept
                 : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    close(place);
    return fd;
}

/* Moves behind a line of `len` bytes, newline included. */
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

/* The text behind the last newline; nothing will follow it. */
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
        const ssize_t n = whole_read_at(reader->fd, reader->buffer,
                                        TAIL_LINE_BYTES, reader->tail->offset);
        if (n <= 0)
            return false;
        const size_t len = (size_t)n;
        const size_t used = take_lines(reader, len);
        if (len < TAIL_LINE_BYTES) {
            if (reader->final && used < len && !reader->tail->cut)
                take_torn(reader, reader->buffer + used, len - used);
            return false;
        }
        if (used == 0)
            pass_overlong(reader);
        taken += used > 0 ? used : len;
    }
    return true;
}

/* What is new in the open file. */
static bool read_open(struct reader *reader, size_t budget)
{
    struct tail *tail = reader->tail;
    struct stat status;
    if (fstat(reader->fd, &status) != 0)
        return false;
    const struct tail_look look = look_at(&status);
    const bool emptied = is_emptied(&tail->mark);
    if (!reader->final && !emptied && is_same(&look, &tail->look))
        return false;
    if (emptied) {
        assert(tail->rewritten != NULL); /* only such a tail has a mark */
        clear_mark(&tail->mark);
        start_over(tail);
        tail->rewritten(reader->context);
    }
    if (tail->rewritten != NULL && tail->mark.page == NULL)
        set_mark(&tail->mark, reader->fd);
    reader->buffer = ht_xcalloc(TAIL_LINE_BYTES, 1);
    if (!is_continued(tail, reader->fd, status.st_size, reader->buffer))
        start_over(tail);
    const bool more = read_lines(reader, budget);
    tail->look = more ? (struct tail_look){.inode = 0} : look;
    free(reader->buffer);
    return more;
}

/* When another file has the name, the rest of the kept one is read first. Takes
 * `fd` over, which may be -1. */
static bool read_kept(struct reader *reader, size_t budget, int fd)
{
    struct tail *tail = reader->tail;
    if (tail->kept >= 0 && fd >= 0 && fd != tail->kept) {
        const struct reader rest = *reader;
        reader->final = false;
        reader->fd = tail->kept;
        if (read_open(reader, budget)) {
            close(fd);
            return true;
        }
        *reader = rest;
        tail->rewritten(reader->context);
        clear_mark(&tail->mark);
        close(tail->kept);
        tail->kept = fd;
        tail->look = (struct tail_look){.inode = 0};
        start_over(tail);
    } else if (tail->kept < 0) {
        tail->kept = fd;
    }
    reader->fd = tail->kept;
    return tail->kept >= 0 && read_open(reader, budget);
}

bool tail_read(struct tail *tail, size_t budget, bool final, tail_line *take,
               void *context)
{
    struct stat status;
    struct reader reader = {.tail = tail,
                            .fd = open_regular(tail, &status),
                            .final = final,
                            .take = take,
                            .context = context};
    tail->missing = reader.fd < 0;
    if (tail->rewritten != NULL)
        return read_kept(&reader, budget, reader.fd);
    if (reader.fd < 0)
        return false;
    const bool more = read_open(&reader, budget);
    close(reader.fd);
    return more;
}

void tail_keep(struct tail *tail, tail_rewritten *rewritten)
{
    struct stat status;
    tail->rewritten = rewritten;
    tail->kept = open_regular(tail, &status);
    tail->missing = tail->kept < 0;
    if (tail->kept < 0)
        return;
    tail->look = look_at(&status);
    set_mark(&tail->mark, tail->kept);
}

void tail_fini(struct tail *tail)
{
    clear_mark(&tail->mark);
    if (tail->kept >= 0)
        close(tail->kept);
    tail->kept = -1;
}
