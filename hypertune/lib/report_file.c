#include "hypertune/lib/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOCK_TRIES = 50, /* 2 ms apart */
    LOCK_PAUSE_MS = 2
};

void report_file_init(struct report_file *file, const char *path)
{
    *file = (struct report_file){.path = path, .fd = -1};
}

/* Trainers that daemonise close every descriptor; the number may belong to
 * another file now, which must neither be written nor closed. */
static bool still_ours(const struct report_file *file, struct stat *now)
{
    return file->fd >= 0 && fstat(file->fd, now) == 0 &&
           now->st_dev == file->device && now->st_ino == file->inode;
}

void report_file_close(struct report_file *file)
{
    struct stat now;
    int fd = file->fd;
    bool ours = still_ours(file, &now);
    file->fd =
        -1; /* first, so that a fork never sees a number already closed */
    if (ours)
        close(fd);
}

static int open_file(struct report_file *file)
{
    /* O_NONBLOCK: opening a pipe someone put there must not hang. */
    int fd = open(file->path,
                  O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                      O_NONBLOCK | O_NOCTTY,
                  0600);
    if (fd < 0)
        return errno;
    struct stat now;
    int rc = fstat(fd, &now) == 0 ? 0 : errno;
    if (rc == 0 && !S_ISREG(now.st_mode))
        rc = EINVAL;
    if (rc != 0) {
        close(fd);
        return rc;
    }
    file->device = now.st_dev;
    file->inode = now.st_ino;
    file->end = 0;
    file->fd = fd;
    return 0;
}

/* A process that forked while it held the lock and was then killed leaves it
 * with a child that does not release it. Training must continue: after 100 ms
 * we write without, as O_APPEND alone keeps whole lines apart on a local disk.
 */
static bool lock(int fd)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false; /* a file system without locks */
        poll(NULL, 0, LOCK_PAUSE_MS);
    }
    return false;
}

/* At its RLIMIT_FSIZE a process is killed by SIGXFSZ for trying. */
static bool limit_is_reached(off_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           limit.rlim_cur != RLIM_INFINITY && (rlim_t)size >= limit.rlim_cur;
}

/* A writer killed inside write(2) may have left half a line, which ours must
 * not be joined to. */
static bool tail_is_torn(int fd, off_t size)
{
    char last;
    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

/* The disk or a limit let only a part of the line through: takes it back, so
 * that the file ends where it did. Without the lock another line may follow
 * the torn one, which then has to stay; readers skip it. */
static int take_back(int fd, ssize_t wrote, bool locked)
{
    struct stat now;
    if (!locked || fstat(fd, &now) != 0 ||
        ftruncate(fd, now.st_size - wrote) != 0)
        return EIO;
    return ENOSPC;
}

/* `size` is the file's, as far as we know. When it is where our own newest
 * line ended, no other process has written and no closer look is needed:
 * each system call counts in a training loop. */
static int write_line(struct report_file *file, off_t size, const char *line,
                      size_t len, bool locked)
{
    struct stat now;
    if (size != file->end) {
        if (fstat(file->fd, &now) != 0)
            return errno;
        size = now.st_size;
    }
    if (limit_is_reached(size))
        return EFBIG;
    if (size != file->end && tail_is_torn(file->fd, size) &&
        write(file->fd, "\n", 1) == 1)
        size++;
    ssize_t wrote = write(file->fd, line, len);
    if (wrote < 0)
        return errno;
    if (wrote != (ssize_t)len)
        return take_back(file->fd, wrote, locked);
    file->end = size + wrote;
    return 0;
}

int report_file_append(struct report_file *file, const char *line, size_t len)
{
    struct stat now = {.st_size = -1};
    if (!still_ours(file, &now)) {
        file->fd = -1;
        now.st_size = -1;
        int rc = open_file(file);
        if (rc != 0)
            return rc;
    }
    bool locked = lock(file->fd);
    int rc = write_line(file, now.st_size, line, len, locked);
    if (locked)
        flock(file->fd, LOCK_UN);
    return rc;
}
