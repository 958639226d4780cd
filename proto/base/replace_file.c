#include "proto/base/replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/whole.h"

/* Some file systems have no sync of a folder: EINVAL. */
static int sync_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const int failed = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    errno = failed;
    return failed == 0 ? 0 : -1;
}

enum ht_status replace_file(const char *folder, const char *name,
                            const char *bytes, size_t len, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    const char *beside = arena_printf(arena, "%s.new", path);
    unlink(beside);
    const int fd = open(
        beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const bool done = fd >= 0 && whole_write(fd, bytes, len) &&
                      fsync(fd) == 0 && rename(beside, path) == 0 &&
                      sync_folder(folder) == 0;
    const int failed = errno;
    if (fd >= 0)
        close(fd);
    arena_free(arena);
    return done
               ? HT_OK
               : ht_fail_errno(err, failed, "cannot write %s/%s", folder, name);
}
