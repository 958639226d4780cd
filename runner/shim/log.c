#include "runner/shim/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "proto/base/whole.h"
#include "runner/base/folder.h"

/* Makes a new file: one of that name, which the trainer may have made, is
 * removed, never written to. */
static int open_segment(const struct shim_log *log, int64_t offset)
{
    char name[FOLDER_LOG_NAME_BYTES];
    folder_log_name(name, log->stream, offset);
    unlinkat(log->folder, name, 0);
    const int fd =
        openat(log->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
               FOLDER_FILE_MODE);
    if (fd >= 0)
        (void)fchmod(fd, FOLDER_FILE_MODE); /* whatever the umask */
    return fd;
}

enum ht_status shim_log_open(struct shim_log *log, int folder,
                             const char *stream, struct ht_error *err)
{
    *log = (struct shim_log){.folder = folder, .stream = stream};
    log->fd = open_segment(log, 0);
    if (log->fd < 0)
        return ht_fail_errno(err, errno, "cannot create the log of %s", stream);
    return HT_OK;
}

/* Where the newest segment begins; -1: there is none. */
static int64_t find_newest(const struct shim_log *log)
{
    int64_t newest = -1;
    const size_t len = strlen(log->stream);
    const int fd = openat(log->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (struct dirent *one; (one = readdir(folder)) != NULL;) {
        char name[FOLDER_LOG_NAME_BYTES];
        if (strncmp(one->d_name, log->stream, len) != 0 ||
            one->d_name[len] != '.')
            continue;
        const int64_t offset = strtoll(one->d_name + len + 1, NULL, 10);
        if (offset > newest &&
            strcmp(folder_log_name(name, log->stream, offset), one->d_name) ==
                0)
            newest = offset;
    }
    closedir(folder);
    return newest;
}

enum ht_status shim_log_resume(struct shim_log *log, int folder,
                               const char *stream, struct ht_error *err)
{
    struct stat state;
    char name[FOLDER_LOG_NAME_BYTES];
    *log = (struct shim_log){.folder = folder, .stream = stream};
    log->segment = find_newest(log);
    if (log->segment < 0)
        return shim_log_open(log, folder, stream, err);
    log->fd = openat(folder, folder_log_name(name, stream, log->segment),
                     O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (log->fd < 0 || fstat(log->fd, &state) != 0)
        return ht_fail_errno(err, errno, "cannot open the log of %s", stream);
    log->offset = log->segment + (int64_t)state.st_size;
    return HT_OK;
}

void shim_log_close(struct shim_log *log)
{
    if (log->fd < 0)
        return;
    if (log->offset > log->segment)
        fdatasync(log->fd);
    close(log->fd);
    log->fd = -1;
}

/* Opens the next segment and removes the one that is too old. */
static void next_segment(struct shim_log *log)
{
    enum { KEPT_TAIL = HT_LOG_SEGMENTS / 2 };
    const int64_t head =
        (int64_t)(HT_LOG_SEGMENTS - KEPT_TAIL) * HT_LOG_SEGMENT;
    shim_log_close(log);
    log->segment += HT_LOG_SEGMENT;
    log->fd = open_segment(log, log->segment);
    const int64_t stale = log->segment - (int64_t)KEPT_TAIL * HT_LOG_SEGMENT;
    char name[FOLDER_LOG_NAME_BYTES];
    if (stale >= head)
        unlinkat(log->folder, folder_log_name(name, log->stream, stale), 0);
}

void shim_log_append(struct shim_log *log, const char *bytes, size_t len)
{
    while (len > 0) {
        if (log->offset == log->segment + HT_LOG_SEGMENT)
            next_segment(log);
        const int64_t at = log->offset - log->segment;
        size_t part = (size_t)(HT_LOG_SEGMENT - at);
        if (part > len)
            part = len;
        /* What cannot be written is lost; later bytes keep their offsets. */
        if (log->fd >= 0)
            (void)whole_write_at(log->fd, bytes, part, at);
        log->offset += (int64_t)part;
        bytes += part;
        len -= part;
    }
}
