#include "proto/tree/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <syscall.h>
#include <unistd.h>

int beneath_open(int top, const char *path, int flags, mode_t mode)
{
    const struct open_how how = {
        .flags = (unsigned)flags | O_CLOEXEC | O_NOFOLLOW,
        .mode = (flags & O_CREAT) != 0 ? mode : 0,
        .resolve =
            RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
    };
    int fd;
    do { /* EAGAIN: something above was renamed meanwhile */
        fd = (int)syscall(SYS_openat2, top, path, &how, sizeof how);
    } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
    /* EPERM: a filter of system calls that does not know it. */
    return fd < 0 && (errno == ENOSYS || errno == EPERM)
               ? beneath_open_by_parts(top, path, flags, mode)
               : fd;
}

int beneath_open_by_parts(int top, const char *path, int flags, mode_t mode)
{
    int folder = top, fd = -1;
    for (;;) {
        char part[NAME_MAX + 1];
        const size_t len = strcspn(path, "/");
        (void)snprintf(part, sizeof part, "%.*s", (int)len, path);
        const int last = path[len] == '\0';
        if (len > NAME_MAX || strcmp(part, "..") == 0) {
            errno = len > NAME_MAX ? ENAMETOOLONG : EXDEV;
            fd = -1;
        } else {
            fd = openat(folder, part,
                        (last ? flags : O_PATH | O_DIRECTORY) | O_CLOEXEC |
                            O_NOFOLLOW,
                        mode);
        }
        const int code = errno;
        if (folder != top)
            close(folder);
        errno = code;
        if (fd < 0 || last)
            return fd;
        folder = fd;
        path += len + 1;
    }
}

int beneath_open_parent(int top, const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    if (slash == NULL)
        return openat(top, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char parent[PATH_MAX];
    if ((size_t)(slash - path) >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    return beneath_open(top, parent, O_PATH | O_DIRECTORY, 0);
}

bool beneath_link_stays(const char *path, const char *target)
{
    size_t above = 0; /* folders between the top and the link */
    bool named = false;
    for (const char *at = path; *at != '\0'; at++)
        above += *at == '/';
    if (target[0] == '/' || target[0] == '\0')
        return false;
    for (size_t len; *target != '\0'; target += len + (target[len] == '/')) {
        len = strcspn(target, "/");
        const bool up = len == 2 && strncmp(target, "..", 2) == 0;
        if (up && (named || above-- == 0))
            return false;
        named |= !up && len > 0 && (len != 1 || target[0] != '.');
    }
    return true;
}
