#include "runner/base/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "runner/base/folder.h"

enum {
    DEPTH = 100, /* of folders in each other: a descriptor pair each */
    CHUNK = 64 * 1024
};

struct copying {
    const struct workdir_order *order;
    struct arena *arena; /* the paths of what is being copied */
    struct stat state;   /* st_ino is 0: there is none */
    int64_t entries, bytes;
    struct ht_error *err;
};

struct folder { /* being copied */
    int from, into;
    const char *path; /* below the top, "" for the top */
    int depth;
};

static enum ht_status fail(struct copying *copying, const struct folder *folder,
                           const char *name)
{
    return ht_fail_errno(copying->err, errno, "cannot copy %s/%s%s%s",
                         copying->order->from, folder->path,
                         *folder->path != '\0' ? "/" : "", name);
}

/* ---- files ---- */

static enum ht_status too_large(struct copying *copying)
{
    return ht_fail(copying->err, HT_TOO_LARGE,
                   "%.128s is too large to copy for each trial: at most %d "
                   "files and %d MB; keep data outside of it",
                   copying->order->from, WORKDIR_ENTRIES, WORKDIR_MEGABYTES);
}

/* On HT_OK errno is 0, or what failed. */
static enum ht_status copy_bytes(struct copying *copying, int from, int into,
                                 int64_t size)
{
    errno = 0;
    if (ioctl(into, FICLONE, from) == 0)
        return HT_OK;
    copying->bytes += size;
    if (copying->bytes > (int64_t)WORKDIR_MEGABYTES * 1024 * 1024)
        return too_large(copying);
    char buffer[CHUNK];
    ssize_t n;
    errno = 0;
    while ((n = read(from, buffer, sizeof buffer)) > 0) {
        if (write(into, buffer, (size_t)n) != n) {
            errno = errno != 0 ? errno : ENOSPC;
            return HT_OK;
        }
    }
    return HT_OK;
}

static bool keep_looks(int into, const struct stat *status)
{
    const struct timespec times[] = {status->st_atim, status->st_mtim};
    return fchmod(into, status->st_mode & 07777) == 0 &&
           futimens(into, times) == 0;
}

static enum ht_status copy_file(struct copying *copying,
                                const struct folder *folder, const char *name)
{
    struct stat status;
    const int from =
        openat(folder->from, name,
               O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (from < 0)
        return errno == ENOENT ? HT_OK : fail(copying, folder, name);
    const int into = openat(folder->into, name,
                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum ht_status result = HT_OK;
    bool good = into >= 0 && fstat(from, &status) == 0;
    if (good) {
        result = copy_bytes(copying, from, into, status.st_size);
        good = errno == 0 && keep_looks(into, &status);
    }
    if (result == HT_OK && !good)
        result = fail(copying, folder, name);
    close(from);
    if (into >= 0)
        close(into);
    return result;
}

/* ---- links ---- */

/* Whether the relative target leads out of the top folder. */
static bool leads_out(const char *target, int depth)
{
    for (size_t len; *target != '\0'; target += len + (target[len] == '/')) {
        len = strcspn(target, "/");
        if (len == 2 && strncmp(target, "..", 2) == 0) {
            if (--depth < 0)
                return true;
        } else if (len > 0 && !(len == 1 && target[0] == '.')) {
            depth++;
        }
    }
    return false;
}

static enum ht_status copy_link(struct copying *copying,
                                const struct folder *folder, const char *name)
{
    char target[PATH_MAX];
    const ssize_t n = readlinkat(folder->from, name, target, sizeof target - 1);
    if (n < 0)
        return fail(copying, folder, name);
    target[n] = '\0';
    const char *leads = target;
    if (target[0] != '/' && leads_out(target, folder->depth))
        leads = arena_printf(copying->arena, "%s/%s/%s", copying->order->from,
                             folder->path, target);
    return symlinkat(leads, folder->into, name) == 0
               ? HT_OK
               : fail(copying, folder, name);
}

/* ---- folders ---- */

static enum ht_status copy_folder(struct copying *copying,
                                  const struct folder *folder);

/* The data folder of a server may be in the working folder. */
static bool is_ours(const struct copying *copying, int fd,
                    const struct stat *status)
{
    return (copying->state.st_ino == status->st_ino &&
            copying->state.st_dev == status->st_dev) ||
           faccessat(fd, "hypertune.db", F_OK, 0) == 0;
}

static enum ht_status enter(struct copying *copying,
                            const struct folder *folder, const char *name,
                            const char *path)
{
    struct folder below = {.path = path, .depth = folder->depth + 1};
    struct stat status;
    if (below.depth > DEPTH) {
        errno = ELOOP;
        return fail(copying, folder, name);
    }
    below.from = openat(folder->from, name,
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below.from < 0)
        return errno == ENOENT ? HT_OK : fail(copying, folder, name);
    enum ht_status result = HT_OK;
    if (fstat(below.from, &status) != 0) {
        result = fail(copying, folder, name);
    } else if (!is_ours(copying, below.from, &status)) {
        below.into = -1;
        if (mkdirat(folder->into, name, 0700) == 0)
            below.into =
                openat(folder->into, name,
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        result = below.into < 0 ? fail(copying, folder, name)
                                : copy_folder(copying, &below);
        status.st_mode |= S_IRWXU; /* or the copy could not be removed */
        if (result == HT_OK && !keep_looks(below.into, &status))
            result = fail(copying, folder, name);
        if (below.into >= 0)
            close(below.into);
    }
    close(below.from);
    return result;
}

static enum ht_status copy_entry(struct copying *copying,
                                 const struct folder *folder, const char *name)
{
    struct stat status;
    const char *path =
        *folder->path == '\0'
            ? arena_strdup(copying->arena, name)
            : arena_printf(copying->arena, "%s/%s", folder->path, name);
    const char *left_out = copying->order->left_out;
    if (left_out != NULL && strcmp(path, left_out) == 0)
        return HT_OK;
    if (copying->order->no_events && strstr(name, FOLDER_EVENT_FILE) != NULL)
        return HT_OK;
    if (fstatat(folder->from, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? HT_OK : fail(copying, folder, name);
    if (++copying->entries > WORKDIR_ENTRIES)
        return too_large(copying);
    if (S_ISREG(status.st_mode))
        return copy_file(copying, folder, name);
    if (S_ISLNK(status.st_mode))
        return copy_link(copying, folder, name);
    return S_ISDIR(status.st_mode) ? enter(copying, folder, name, path) : HT_OK;
}

static enum ht_status copy_folder(struct copying *copying,
                                  const struct folder *folder)
{
    const int fd =
        openat(folder->from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        const enum ht_status status = fail(copying, folder, "");
        if (fd >= 0)
            close(fd);
        return status;
    }
    enum ht_status status = HT_OK;
    struct dirent *entry;
    while (status == HT_OK && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = copy_entry(copying, folder, entry->d_name);
    }
    closedir(dir);
    return status;
}

static enum ht_status copy_top(struct copying *copying)
{
    const struct workdir_order *order = copying->order;
    struct folder top = {.path = "", .into = -1};
    top.from = open(order->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top.from < 0) {
        char reason[HT_MAX_REASON];
        const int code = errno;
        folder_describe_workdir(code, order->from, reason);
        return ht_fail(copying->err, code == ENOENT ? HT_NOT_FOUND : HT_IO,
                       "%s", reason);
    }
    if (mkdir(order->into, 0700) == 0)
        top.into = open(order->into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum ht_status status =
        top.into >= 0
            ? copy_folder(copying, &top)
            : ht_fail_errno(copying->err, errno, "cannot make %s", order->into);
    if (top.into >= 0)
        close(top.into);
    close(top.from);
    return status;
}

/* "./a//b" as "a/b", the form of entries' paths. */
static const char *tidy(struct arena *arena, const char *path)
{
    char *tidied = arena_strdup(arena, path);
    char *out = tidied;
    for (size_t len; *path != '\0'; path += len + (path[len] == '/')) {
        len = strcspn(path, "/");
        if (len == 0 || (len == 1 && path[0] == '.'))
            continue;
        if (out > tidied)
            *out++ = '/';
        memcpy(out, path, len);
        out += len;
    }
    *out = '\0';
    return tidied;
}

enum ht_status workdir_copy(const struct workdir_order *order,
                            struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct workdir_order tidied = *order;
    struct copying copying = {.order = &tidied, .arena = arena, .err = err};
    if (order->left_out != NULL)
        tidied.left_out = tidy(arena, order->left_out);
    if (order->state == NULL || stat(order->state, &copying.state) != 0)
        copying.state.st_ino = 0;
    const enum ht_status status = copy_top(&copying);
    arena_free(arena);
    return status;
}
