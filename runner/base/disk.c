#include "runner/base/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "proto/base/whole.h"

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

enum safety { UNSYNCED, SYNCED };

struct content {
    const void *bytes;
    size_t len;
    mode_t mode;
};

/* Sets errno on failure. A trial may write into the folder, too: so the file
 * must not exist yet, and it gets its mode whatever the umask is. */
static bool write_new(int folder, const char *name,
                      const struct content *content, enum safety safety)
{
    const int fd = openat(folder, name,
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                          content->mode);
    if (fd < 0)
        return false;
    const bool done = fchmod(fd, content->mode) == 0 &&
                      whole_write_at(fd, content->bytes, content->len, 0) &&
                      (safety == UNSYNCED || fsync(fd) == 0);
    const int code = errno;
    close(fd);
    errno = code;
    return done;
}

/* A name that no file has yet. */
static void make_name(char name[NAME_MAX + 1], const char *final_name)
{
    /* Not token_random64(): the shim is static and without nettle. */
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = (uint64_t)getpid();
    (void)snprintf(name, NAME_MAX + 1, ".%s.%016llx", final_name,
                   (unsigned long long)random);
}

/* A folder of that name can only be a trial's: it is renamed. */
static bool rename_over(int dir, const char *from, const char *name)
{
    if (renameat(dir, from, dir, name) == 0)
        return true;
    if (errno != EISDIR && errno != ENOTEMPTY && errno != EEXIST)
        return false;
    char aside[NAME_MAX + 1];
    make_name(aside, name);
    return renameat(dir, name, dir, aside) == 0 &&
           renameat(dir, from, dir, name) == 0;
}

static enum ht_status replace(const char *folder, const char *name,
                              const struct content *content, enum safety safety,
                              struct ht_error *err)
{
    const int dir = open_folder(folder);
    if (dir < 0)
        return ht_fail_errno(err, errno, "cannot open folder %s", folder);
    char temporary[NAME_MAX + 1];
    make_name(temporary, name);
    const bool done = write_new(dir, temporary, content, safety) &&
                      rename_over(dir, temporary, name) &&
                      (safety == UNSYNCED || fsync(dir) == 0);
    const int code = errno;
    if (!done)
        unlinkat(dir, temporary, 0);
    close(dir);
    if (!done)
        return ht_fail_errno(err, code, "cannot write %s/%s", folder, name);
    return HT_OK;
}

enum ht_status disk_write(const char *folder, const char *name,
                          const void *bytes, size_t len, mode_t mode,
                          struct ht_error *err)
{
    return replace(folder, name, &(struct content){bytes, len, mode}, SYNCED,
                   err);
}

enum ht_status disk_replace(const char *folder, const char *name,
                            const void *bytes, size_t len, mode_t mode,
                            struct ht_error *err)
{
    return replace(folder, name, &(struct content){bytes, len, mode}, UNSYNCED,
                   err);
}

/* ESTALE: another machine has removed or replaced the file of an NFS. */
static bool is_gone(int code)
{
    return code == ENOENT || code == ESTALE;
}

enum ht_status disk_read_open(struct arena *arena, int fd, size_t limit,
                              struct disk_bytes *bytes, struct ht_error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return ht_fail_errno(err, errno, "cannot read its size");
    if (!S_ISREG(status.st_mode))
        return ht_fail(err, HT_IO, "is not a regular file");
    if (status.st_size > (off_t)limit)
        return ht_fail(err, HT_TOO_LARGE, "is longer than %zu bytes", limit);
    char *data = arena_alloc(arena, (size_t)status.st_size + 1, 1);
    const ssize_t n = whole_read_at(fd, data, (size_t)status.st_size, 0);
    if (n < 0 && is_gone(errno))
        return ht_fail(err, HT_NOT_FOUND, "was replaced");
    if (n < 0)
        return ht_fail_errno(err, errno, "cannot be read");
    *bytes = (struct disk_bytes){.data = data, .len = (size_t)n};
    return HT_OK;
}

enum ht_status disk_read(struct arena *arena, const char *folder,
                         const char *name, size_t limit,
                         struct disk_bytes *bytes, struct ht_error *err)
{
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    const int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && is_gone(errno))
        return ht_fail(err, HT_NOT_FOUND, "%s does not exist", path);
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot open %s", path);
    const enum ht_status status = disk_read_open(arena, fd, limit, bytes, err);
    close(fd);
    if (status != HT_OK)
        return ht_wrap(err, status, "%s", path);
    return HT_OK;
}

enum ht_status disk_read_json(struct arena *arena, const char *folder,
                              const char *name, const struct node **map,
                              struct ht_error *err)
{
    struct disk_bytes bytes = {.data = NULL};
    const enum ht_status status =
        disk_read(arena, folder, name, HT_MAX_MESSAGE, &bytes, err);
    if (status != HT_OK)
        return status;
    struct diag diag;
    diag_init(&diag, arena, name, bytes.data, bytes.len);
    const struct node *root =
        node_read_json(arena, bytes.data, bytes.len, &diag);
    if (root == NULL || root->kind != NODE_MAP)
        return ht_fail(err, HT_CORRUPT, "%s/%s: %s", folder, name,
                       diag.first ? diag.first->text : "is not an object");
    *map = root;
    return HT_OK;
}

bool disk_write_kernel(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool done =
        fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    const int code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
    return done;
}

bool disk_has(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &status) == 0;
}

bool disk_refresh(const char *folder)
{
    const int fd = open_folder(folder);
    if (fd < 0)
        return !is_gone(errno);
    close(fd);
    return true;
}

enum ht_status disk_mark(const char *folder, const char *name,
                         struct ht_error *err)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd =
        open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return ht_fail_errno(err, errno, "cannot create %s", path);
    close(fd);
    return HT_OK;
}

/* Else a power cut could take a new folder with all that was synced in it, and
 * an attempt that had begun would look new. `made` has the path of it. */
static bool sync_parent(char made[PATH_MAX])
{
    char *slash = strrchr(made, '/');
    if (slash == NULL || slash == made)
        return true;
    *slash = '\0';
    const int fd = open_folder(made);
    *slash = '/';
    if (fd < 0)
        return true; /* another's, which may not be read */
    const bool synced = fsync(fd) == 0 || errno == EINVAL;
    const int code = errno;
    close(fd);
    errno = code;
    return synced;
}

enum ht_status disk_make_folder(const char *path, struct ht_error *err)
{
    char part[PATH_MAX];
    const size_t len = strlen(path);
    if (len >= sizeof part)
        return ht_fail(err, HT_INVALID, "path of %zu bytes is too long", len);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        const bool made = mkdir(part, 0700) == 0;
        if (made ? !sync_parent(part) : errno != EEXIST)
            return ht_fail_errno(err, errno, "cannot make folder %s", part);
    }
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return ht_fail(err, HT_IO, "%s is not a folder", path);
    return HT_OK;
}

/* ---- the size of a folder, and its newest file ---- */

enum {
    MOST_LEVELS = 32,
    MOST_FILES = 200000,
    BLOCK_BYTES = 512 /* of st_blocks, whatever the file system has */
};

struct count {
    int64_t bytes, enough;
    int64_t newest_ms;
    int files;
};

static void add(struct count *count, int64_t bytes)
{
    count->bytes += bytes;
    if (++count->files > MOST_FILES)
        count->bytes = count->enough + 1;
}

static int64_t mtime_ms(const struct stat *status)
{
    return (int64_t)status->st_mtim.tv_sec * 1000 +
           status->st_mtim.tv_nsec / 1000000;
}

static void count_folder(struct count *count, int fd, int level);

static void count_entry(struct count *count, int folder, const char *name,
                        int level)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    add(count, (int64_t)status.st_blocks * BLOCK_BYTES);
    if (!S_ISDIR(status.st_mode)) {
        const int64_t at_ms = mtime_ms(&status);
        count->newest_ms = at_ms > count->newest_ms ? at_ms : count->newest_ms;
        return;
    }
    if (level == MOST_LEVELS)
        add(count, count->enough);
    const int fd =
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        count_folder(count, fd, level + 1);
}

/* Closes the descriptor. */
static void count_folder(struct count *count, int fd, int level)
{
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return;
    }
    struct dirent *entry;
    while (count->bytes <= count->enough && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            count_entry(count, fd, entry->d_name, level);
    }
    closedir(dir);
}

static void count_below(struct count *count, const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        count_folder(count, fd, 1);
}

int64_t disk_usage(const char *path, int64_t enough)
{
    struct count count = {.enough = enough};
    count_below(&count, path);
    return count.bytes;
}

int64_t disk_newest_ms(const char *path)
{
    struct count count = {.enough = INT64_MAX / 4}; /* the sum must fit */
    count_below(&count, path);
    return count.newest_ms;
}

int64_t disk_written_ms(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    const int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    return len > 0 && (size_t)len < sizeof path && lstat(path, &status) == 0
               ? mtime_ms(&status)
               : 0;
}
