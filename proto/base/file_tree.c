#include "proto/base/file_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/token.h"

/* A tree that is deeper than descriptors go is taken apart: what is below this
 * moves to the top and comes next. */
enum { TREE_DEPTH = 64 };

struct removal {
    int top;          /* the folder that is removed */
    const char *last; /* its file that goes when all else is gone, or NULL */
    size_t moved;     /* subtrees that came to the top */
};

static void empty_folder(struct removal *removal, int fd, int depth);

/* A folder that its owner has locked is unlocked: it may be ours. */
static int open_locked(int folder, const char *name)
{
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
    const int fd = openat(folder, name, FLAGS);
    if (fd >= 0 || errno != EACCES || fchmodat(folder, name, 0700, 0) != 0)
        return fd;
    return openat(folder, name, FLAGS);
}

static void move_to_top(struct removal *removal, int folder, const char *name)
{
    char moved[NAME_MAX + 1];
    snprintf(moved, sizeof moved, ".removed.%016llx",
             (unsigned long long)token_random64());
    if (renameat(folder, name, removal->top, moved) == 0)
        removal->moved++;
}

static void remove_entry(struct removal *removal, int folder, const char *name,
                         int depth)
{
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return;
    if (depth == TREE_DEPTH) {
        move_to_top(removal, folder, name);
        return;
    }
    const int fd = open_locked(folder, name);
    if (fd < 0)
        return;
    empty_folder(removal, fd, depth + 1);
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* Takes over the descriptor. */
static void empty_folder(struct removal *removal, int fd, int depth)
{
    (void)fchmod(fd, 0700); /* it may be locked against us as well */
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 &&
            (depth > 0 || removal->last == NULL ||
             strcmp(entry->d_name, removal->last) != 0))
            remove_entry(removal, fd, entry->d_name, depth);
    }
    closedir(dir);
}

enum ht_status file_tree_remove(const char *path, const char *last,
                                struct ht_error *err)
{
    struct removal removal = {
        .top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        .last = last};
    if (removal.top < 0)
        return ht_fail_errno(err, errno, "cannot open %s", path);
    size_t before;
    do {
        before = removal.moved;
        const int fd =
            openat(removal.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
            empty_folder(&removal, fd, 0);
    } while (removal.moved > before);
    if (last != NULL)
        unlinkat(removal.top, last, 0);
    close(removal.top);
    if (rmdir(path) != 0)
        return ht_fail_errno(err, errno, "cannot remove all of %s", path);
    return HT_OK;
}
