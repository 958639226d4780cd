#include "runner/transfer/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/tree/beneath.h"

enum {
    MOST_LEVELS = 100,
    FOLDER = O_RDONLY | O_DIRECTORY,
    RECENT_S = 600 /* longer than trainers leave a log alone */
};

struct copy {
    int from, to; /* folders */
    int depth;
    int64_t *may_copy; /* see snapshot_freeze(); NULL: nothing */
};

static enum ht_status link_folder(const struct copy *copy, const char *name,
                                  struct ht_error *err);

/* What is gone was removed since its name was read. */
static enum ht_status fail(int code, const char *name, struct ht_error *err)
{
    if (code == ENOENT || code == ELOOP || code == ENOTDIR)
        return ht_fail(err, HT_CONFLICT, "%.200s changed meanwhile", name);
    return ht_fail_errno(err, code, "cannot link %.200s", name);
}

static bool copy_bytes(int from, int to)
{
    ssize_t n;
    do {
        n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
    } while (n > 0);
    return n == 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static enum ht_status copy_file(const struct copy *copy, const char *name,
                                struct ht_error *err)
{
    struct stat before, after;
    const int from = beneath_open(copy->from, name, O_RDONLY | O_NONBLOCK, 0);
    if (from < 0)
        return fail(errno, name, err);
    enum ht_status status = HT_OK;
    int to = -1;
    const bool same = fstat(from, &before) == 0 && S_ISREG(before.st_mode);
    if (same && ((to = beneath_open(copy->to, name, O_WRONLY | O_CREAT | O_EXCL,
                                    before.st_mode & 0777)) < 0 ||
                 !copy_bytes(from, to) || fstat(from, &after) != 0))
        status = ht_fail_errno(err, errno, "cannot copy %.200s", name);
    else if (!same || !is_same(&before, &after))
        status = fail(ENOENT, name, err);
    close(from);
    if (to >= 0)
        close(to);
    return status;
}

static bool may_grow(const struct copy *copy, const struct stat *status)
{
    return copy->may_copy != NULL && S_ISREG(status->st_mode) &&
           status->st_size <= *copy->may_copy &&
           clock_wall_ms() / 1000 - status->st_mtim.tv_sec < RECENT_S;
}

static enum ht_status link_entry(const struct copy *copy, const char *name,
                                 struct ht_error *err)
{
    struct stat status;
    if (fstatat(copy->from, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return fail(errno, name, err);
    if (S_ISDIR(status.st_mode))
        return link_folder(copy, name, err);
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
        return HT_OK;
    if (may_grow(copy, &status)) {
        *copy->may_copy -= status.st_size;
        return copy_file(copy, name, err);
    }
    if (linkat(copy->from, name, copy->to, name, 0) == 0)
        return HT_OK;
    /* The kernel lets no user link others' files (fs.protected_hardlinks): a
     * container's trainer may be another one. */
    return errno == EPERM && S_ISREG(status.st_mode)
               ? copy_file(copy, name, err)
               : fail(errno, name, err);
}

static enum ht_status link_entries(const struct copy *copy, const char *name,
                                   struct ht_error *err)
{
    const int fd = openat(copy->from, ".", FOLDER | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        const int code = errno;
        if (fd >= 0)
            close(fd);
        return fail(code, name, err);
    }
    enum ht_status status = HT_OK;
    const struct dirent *entry;
    while (status == HT_OK && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = link_entry(copy, entry->d_name, err);
    closedir(dir);
    return status;
}

static enum ht_status link_folder(const struct copy *copy, const char *name,
                                  struct ht_error *err)
{
    struct copy below = {-1, -1, copy->depth + 1, copy->may_copy};
    enum ht_status status = HT_OK;
    below.from = beneath_open(copy->from, name, FOLDER, 0);
    if (below.depth > MOST_LEVELS)
        status = ht_fail(err, HT_PRECONDITION,
                         "%.200s has more than %d folders in each other", name,
                         MOST_LEVELS);
    else if (below.from < 0 || mkdirat(copy->to, name, 0700) != 0 ||
             (below.to = beneath_open(copy->to, name, FOLDER, 0)) < 0)
        status = fail(errno, name, err);
    if (status == HT_OK)
        status = link_entries(&below, name, err);
    if (below.from >= 0)
        close(below.from);
    if (below.to >= 0)
        close(below.to);
    return status;
}

/* Makes the parents of the path below `to`; *parent is the last one, the
 * caller's to close. */
static enum ht_status make_parents(int to, const char *path, int *parent,
                                   struct ht_error *err)
{
    int at = dup(to);
    const char *slash;
    while (at >= 0 && (slash = strchr(path, '/')) != NULL) {
        char part[256];
        const size_t len = (size_t)(slash - path);
        if (len >= sizeof part)
            break;
        memcpy(part, path, len);
        part[len] = '\0';
        const int next = mkdirat(at, part, 0700) == 0
                             ? beneath_open(at, part, FOLDER, 0)
                             : -1;
        close(at);
        at = next;
        path = slash + 1;
    }
    *parent = at;
    return at >= 0 ? HT_OK
                   : ht_fail_errno(err, errno, "cannot make %.200s", path);
}

static enum ht_status fail_path(int code, const char *path,
                                struct ht_error *err)
{
    if (code == ENOENT)
        return ht_fail(err, HT_NOT_FOUND, "there is no %.200s", path);
    return ht_fail(err, HT_PRECONDITION, "%.200s: %s", path, strerror(code));
}

static enum ht_status link_path(const struct copy *all, const char *path,
                                struct ht_error *err)
{
    const char *name;
    struct copy copy = {.from = beneath_open_parent(all->from, path, &name),
                        .to = -1};
    struct stat found;
    enum ht_status status = HT_OK;
    if (copy.from < 0 ||
        fstatat(copy.from, name, &found, AT_SYMLINK_NOFOLLOW) != 0)
        status = fail_path(errno, path, err);
    else if (strcmp(name, "..") == 0 ||
             (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)))
        status = ht_fail(err, HT_PRECONDITION,
                         "%.200s is neither a file nor a folder", path);
    if (status == HT_OK)
        status = make_parents(all->to, path, &copy.to, err);
    if (status == HT_OK)
        status = link_entry(&copy, name, err);
    if (copy.from >= 0)
        close(copy.from);
    if (copy.to >= 0)
        close(copy.to);
    return status;
}

static enum ht_status take(const char *folder, const char *path,
                           const char *into, int64_t *may_copy,
                           struct ht_error *err)
{
    struct copy copy = {.from = open(folder, FOLDER | O_NOFOLLOW | O_CLOEXEC),
                        .to = -1,
                        .may_copy = may_copy};
    enum ht_status status = HT_OK;
    if (copy.from < 0)
        return fail_path(errno, folder, err);
    if (mkdir(into, 0700) != 0 ||
        (copy.to = open(into, FOLDER | O_NOFOLLOW | O_CLOEXEC)) < 0)
        status = ht_fail_errno(err, errno, "cannot make %s", into);
    else if (*path == '\0')
        status = link_entries(&copy, folder, err);
    else
        status = link_path(&copy, path, err);
    close(copy.from);
    if (copy.to >= 0)
        close(copy.to);
    return status;
}

enum ht_status snapshot_make(const char *folder, const char *path,
                             const char *into, struct ht_error *err)
{
    return take(folder, path, into, NULL, err);
}

enum ht_status snapshot_freeze(const char *folder, const char *into,
                               int64_t *may_copy, struct ht_error *err)
{
    return take(folder, "", into, may_copy, err);
}
