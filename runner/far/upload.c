/* upload.c - a folder of this machine, put below the root there:
 * aside, then renamed, so that one of its name is whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/whole.h"
#include "proto/tree/walk.h"
#include "runner/far/parts.h"

struct upload {
    struct link *link;
    const char *without;
    size_t above; /* length of the root's path, with its slash */
    struct ht_error *err;
};

static bool put_folder(const struct upload *upload, int fd, const char *path);

static bool put_bytes(const struct upload *upload, int fd, const char *path,
                      const struct stat *is)
{
    char bytes[FRAME_DATA];
    unsigned begins = 1, ends = 0;
    while (ends == 0) {
        const ssize_t n = whole_read(fd, bytes, sizeof bytes);
        if (n < 0) {
            ht_fail_errno(upload->err, errno, "%s", path);
            return false;
        }
        ends = n < FRAME_DATA ? 2 : 0;
        if (!link_push(upload->link, &(struct frame){.kind = FRAME_FILE,
                                                     .path = path,
                                                     .mode = is->st_mode & 0777,
                                                     .number = begins | ends,
                                                     .data = bytes,
                                                     .len = (size_t)n}))
            return false;
        begins = 0;
    }
    return true;
}

static bool put_link(const struct upload *upload, int folder, const char *name,
                     const char *path)
{
    char target[FRAME_PATH + 1];
    const ssize_t n = readlinkat(folder, name, target, FRAME_PATH);
    return n > 0 ? link_push(upload->link, &(struct frame){.kind = FRAME_LINK,
                                                           .path = path,
                                                           .data = target,
                                                           .len = (size_t)n})
                 : true;
}

static bool put_entry(const struct upload *upload, int folder, const char *name,
                      const char *path)
{
    struct stat is;
    if (!names_is_path(path)) {
        ht_fail(upload->err, HT_INVALID, "%.200s: the name cannot be put there",
                path);
        return false;
    }
    if (fstatat(folder, name, &is, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (!S_ISDIR(is.st_mode) &&
        walk_is_without(upload->without, path + upload->above))
        return true;
    if (S_ISLNK(is.st_mode))
        return put_link(upload, folder, name, path);
    if (!S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode))
        return true;
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        ht_fail_errno(upload->err, errno, "%s", path);
        return false;
    }
    if (S_ISDIR(is.st_mode))
        return put_folder(upload, fd, path);
    const bool done = put_bytes(upload, fd, path, &is);
    close(fd);
    return done;
}

/* Closes the descriptor. */
static bool put_folder(const struct upload *upload, int fd, const char *path)
{
    bool done = link_push(
        upload->link,
        &(struct frame){.kind = FRAME_FOLDER, .path = path, .mode = 0700});
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    if (dir == NULL) {
        close(fd);
        return done;
    }
    while (done && (entry = readdir(dir)) != NULL) {
        char *inner = NULL;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        done = asprintf(&inner, "%s/%s", path, entry->d_name) > 0 &&
               put_entry(upload, fd, entry->d_name, inner);
        free(inner);
    }
    closedir(dir);
    return done;
}

bool far_upload(struct link *link, const struct far_tree *tree,
                struct ht_error *err)
{
    char aside[FRAME_PATH];
    const char *slash = strrchr(tree->path, '/');
    const int n = snprintf(aside, sizeof aside, "%.*s/.%s",
                           (int)(slash - tree->path), tree->path, slash + 1);
    const struct upload upload = {.link = link,
                                  .without = tree->without,
                                  .above = (size_t)n + 1,
                                  .err = err};
    const int fd = open(tree->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        ht_fail_errno(err, errno, "%s", tree->folder);
        return false;
    }
    if (!link_push(link,
                   &(struct frame){.kind = FRAME_REMOVE, .path = aside})) {
        close(fd);
        return false;
    }
    return put_folder(&upload, fd, aside) &&
           link_push(link, &(struct frame){.kind = FRAME_RENAME,
                                           .path = aside,
                                           .data = tree->path,
                                           .len = strlen(tree->path)});
}
