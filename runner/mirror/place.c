#include "runner/mirror/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/whole.h"
#include "proto/tree/beneath.h"

enum { BEGINS = 1, ENDS = 2, MOST_LEVELS = 400 };

static bool close_all(int fd, int folder, bool done)
{
    const int code = errno;
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
    errno = code;
    return done;
}

bool place_file(int root, const struct frame *frame)
{
    const char *name;
    char part[NAME_MAX + 1];
    struct stat is;
    const int folder = beneath_open_parent(root, frame->path, &name);
    if (folder < 0)
        return false;
    (void)snprintf(part, sizeof part, ".put.%.240s", name);
    const bool begins = (frame->number & BEGINS) != 0;
    if (begins)
        (void)unlinkat(folder, part, 0);
    const int fd = openat(folder, part,
                          O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                              O_NONBLOCK | (begins ? O_CREAT | O_EXCL : 0),
                          0600);
    bool done = fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) &&
                whole_write(fd, frame->data, frame->len);
    if (done && (frame->number & ENDS) != 0)
        done = fchmod(fd, frame->mode & 0777) == 0 &&
               renameat(folder, part, folder, name) == 0;
    return close_all(fd, folder, done);
}

bool place_link(int root, const char *path, const char *target)
{
    const char *name;
    const int folder = beneath_open_parent(root, path, &name);
    return folder >= 0 &&
           close_all(-1, folder, symlinkat(target, folder, name) == 0);
}

bool place_rename(int root, const char *from, const char *to)
{
    const char *old, *new;
    const int folder = beneath_open_parent(root, from, &old);
    if (folder < 0 && errno == ENOENT)
        return true;
    const int into = folder >= 0 ? beneath_open_parent(root, to, &new) : -1;
    const bool done =
        into >= 0 && (renameat(folder, old, into, new) == 0 || errno == ENOENT);
    const bool there = !done && (errno == EEXIST || errno == ENOTEMPTY);
    return close_all(into, folder, done) || (there && place_remove(root, from));
}

static bool remove_in(int folder, const char *name, int level);

/* Closes the descriptor. */
static void empty(int fd, int level)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    if (dir == NULL) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)remove_in(fd, entry->d_name, level);
    closedir(dir);
}

static bool remove_in(int folder, const char *name, int level)
{
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return true;
    if (level == MOST_LEVELS)
        return false;
    int fd = openat(folder, name, FLAGS);
    if (fd < 0 && errno == EACCES && fchmodat(folder, name, 0700, 0) == 0)
        fd = openat(folder, name, FLAGS);
    if (fd < 0)
        return false;
    (void)fchmod(fd, 0700);
    empty(fd, level + 1);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

bool place_remove(int root, const char *path)
{
    const char *name;
    const int folder = beneath_open_parent(root, path, &name);
    if (folder < 0)
        return errno == ENOENT;
    return close_all(-1, folder, remove_in(folder, name, 0));
}

bool place_has(int root, const char *path)
{
    const char *name;
    struct stat is;
    if (*path == '\0')
        return true;
    const int folder = beneath_open_parent(root, path, &name);
    return folder >= 0 &&
           close_all(-1, folder,
                     fstatat(folder, name, &is, AT_SYMLINK_NOFOLLOW) == 0);
}
