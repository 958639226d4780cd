#include "runner/base/file_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The page may be behind the end of the file by now, where touching it is a
 * signal; the kernel answers the same question by an error. */
static bool copy_sign(int pipe_end, const void *page)
{
    ssize_t n;
    do {
        n = write(pipe_end, page, FILE_MARK_BYTES);
    } while (n < 0 && errno == EINTR);
    return n == FILE_MARK_BYTES;
}

static bool read_page(const void *page, unsigned char into[FILE_MARK_BYTES])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    const bool read_it =
        copy_sign(ends[1], page) &&
        read(ends[0], into, FILE_MARK_BYTES) == FILE_MARK_BYTES;
    close(ends[0]);
    close(ends[1]);
    return read_it;
}

/* The other way round, for the same reason. */
static bool write_page(void *page, const unsigned char sign[FILE_MARK_BYTES])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    const bool written =
        copy_sign(ends[1], sign) &&
        read(ends[0], page, FILE_MARK_BYTES) == FILE_MARK_BYTES;
    close(ends[0]);
    close(ends[1]);
    return written;
}

void file_mark_set(struct file_mark *mark, int fd)
{
    struct stat status;
    file_mark_clear(mark);
    if (fstat(fd, &status) != 0 || status.st_size == 0 ||
        getrandom(mark->sign, sizeof mark->sign, 0) !=
            (ssize_t)sizeof mark->sign)
        return;
    void *page =
        mmap(NULL, FILE_MARK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED)
        return;
    mark->page = page;
    if (!write_page(page, mark->sign))
        file_mark_clear(mark);
}

void file_mark_clear(struct file_mark *mark)
{
    if (mark->page != NULL)
        munmap(mark->page, FILE_MARK_BYTES);
    mark->page = NULL;
}

bool file_mark_is_set(const struct file_mark *mark)
{
    return mark->page != NULL;
}

bool file_mark_is_gone(const struct file_mark *mark)
{
    unsigned char there[FILE_MARK_BYTES];
    return mark->page != NULL && (!read_page(mark->page, there) ||
                                  memcmp(there, mark->sign, sizeof there) != 0);
}
