#include "hypertune/cli/frame/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/whole.h"

enum { MAX_DEPTH = 64, BLOCK_BYTES = 1 << 18 };

/* A file has this name while it is written. */
static const char part_name[] = ".hypertune-part";

enum {
    OPEN_FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
    /* A file that has become a pipe must not block. */
    OPEN_FILE = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
};

/* A running copy; the buffer is shared by all files. */
struct copier {
    struct tree_copy *copy;
    mode_t mask; /* of this process */
    char *buffer;
    struct ht_error *err;
};

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A stream over a folder that stays open itself. */
static DIR *open_list(int folder)
{
    int again = openat(folder, ".", OPEN_FOLDER);
    DIR *list = again >= 0 ? fdopendir(again) : NULL;
    if (list == NULL && again >= 0)
        close(again);
    return list;
}

static enum ht_status copy_bytes(struct copier *copier, int from, int to,
                                 const char *name)
{
    ssize_t n;
    while ((n = read(from, copier->buffer, BLOCK_BYTES)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ht_fail_errno(copier->err, errno, "cannot read %s", name);
        if (!whole_write(to, copier->buffer, (size_t)n))
            return ht_fail_errno(copier->err, errno, "cannot write %s", name);
        copier->copy->bytes += n;
        if (copier->copy->progress != NULL)
            copier->copy->progress(copier->copy);
    }
    return HT_OK;
}

/* Gives the whole file `part` of a folder its name in the folder `to`. */
static enum ht_status settle(const struct copier *copier, int from,
                             const char *part, int to, const char *name)
{
    unsigned how = copier->copy->replace ? 0 : RENAME_NOREPLACE;
    if (renameat2(from, part, to, name, how) == 0)
        return HT_OK;
    if (errno == EEXIST)
        return ht_fail(copier->err, HT_EXISTS, "%s is there already", name);
    return ht_fail_errno(copier->err, errno, "cannot write %s", name);
}

static enum ht_status copy_file(struct copier *copier, int from, int to,
                                const char *name)
{
    struct stat info;
    int source = openat(from, name, OPEN_FILE);
    if (source < 0 || fstat(source, &info) != 0) {
        if (source >= 0)
            close(source);
        return ht_fail_errno(copier->err, errno, "cannot read %s", name);
    }
    if (!S_ISREG(info.st_mode)) {
        copier->copy->left_out++;
        close(source);
        return HT_OK;
    }
    unlinkat(to, part_name, 0); /* of an interrupted copy */
    int target = openat(to, part_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        info.st_mode & 0777);
    enum ht_status status =
        target < 0 ? ht_fail_errno(copier->err, errno, "cannot write %s", name)
                   : copy_bytes(copier, source, target, name);
    close(source);
    if (target >= 0 && close(target) != 0 && status == HT_OK)
        status = ht_fail_errno(copier->err, errno, "cannot write %s", name);
    if (status == HT_OK)
        status = settle(copier, to, part_name, to, name);
    if (status != HT_OK)
        unlinkat(to, part_name, 0);
    else
        copier->copy->files++;
    return status;
}

static enum ht_status move_file(struct copier *copier, int from, int to,
                                const char *name, const struct stat *info)
{
    if (fchmodat(from, name, info->st_mode & 0777 & ~copier->mask, 0) != 0)
        return ht_fail_errno(copier->err, errno, "cannot move %s", name);
    const enum ht_status status = settle(copier, from, name, to, name);
    if (status != HT_OK)
        return status;
    copier->copy->files++;
    copier->copy->bytes += info->st_size;
    return HT_OK;
}

static enum ht_status copy_folder(struct copier *copier, int from, int to,
                                  int depth);

static enum ht_status enter_folder(struct copier *copier, int from, int to,
                                   const char *name, int depth)
{
    enum ht_status status;
    int source = openat(from, name, OPEN_FOLDER);
    if (source < 0)
        return ht_fail_errno(copier->err, errno, "cannot read %s", name);
    if (depth == 0 && copier->copy->mark != NULL &&
        faccessat(source, copier->copy->mark, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        close(source);
        return HT_OK;
    }
    bool made = mkdirat(to, name, 0777) == 0 || errno == EEXIST;
    int target = made ? openat(to, name, OPEN_FOLDER) : -1;
    if (target < 0) {
        status = ht_fail_errno(copier->err, errno, "cannot make %s", name);
    } else {
        status = copy_folder(copier, source, target, depth + 1);
        close(target);
    }
    close(source);
    return status;
}

static enum ht_status copy_entry(struct copier *copier, int from, int to,
                                 const char *name, int depth)
{
    struct stat info;
    if (fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return ht_fail_errno(copier->err, errno, "cannot read %s", name);
    if (S_ISDIR(info.st_mode))
        return enter_folder(copier, from, to, name, depth);
    if (S_ISREG(info.st_mode))
        return copier->copy->moves ? move_file(copier, from, to, name, &info)
                                   : copy_file(copier, from, to, name);
    copier->copy->left_out++;
    return HT_OK;
}

static enum ht_status copy_folder(struct copier *copier, int from, int to,
                                  int depth)
{
    enum ht_status status = HT_OK;
    struct dirent *entry;
    if (depth > MAX_DEPTH)
        return ht_fail(copier->err, HT_IO, "folders lie deeper than %d",
                       MAX_DEPTH);
    DIR *list = open_list(from);
    if (list == NULL)
        return ht_fail_errno(copier->err, errno, "cannot list a folder");
    while (status == HT_OK && (entry = readdir(list)) != NULL) {
        if (!is_dot(entry->d_name))
            status = copy_entry(copier, from, to, entry->d_name, depth);
    }
    closedir(list);
    return status;
}

enum ht_status tree_copy(const char *from, const char *to,
                         struct tree_copy *copy, struct ht_error *err)
{
    enum ht_status status;
    int source = open(from, OPEN_FOLDER);
    if (source < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
        return ht_fail(err, HT_NOT_FOUND, "there is no folder %s", from);
    if (source < 0)
        return ht_fail_errno(err, errno, "cannot read %s", from);
    bool made = mkdir(to, 0777) == 0 || errno == EEXIST;
    int target = made ? open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (target < 0) {
        status = ht_fail_errno(err, errno, "cannot make %s", to);
    } else {
        struct copier copier = {
            .copy = copy, .buffer = ht_xcalloc(1, BLOCK_BYTES), .err = err};
        copier.mask = umask(0);
        umask(copier.mask);
        status = copy_folder(&copier, source, target, 0);
        free(copier.buffer);
        close(target);
    }
    close(source);
    return status;
}
