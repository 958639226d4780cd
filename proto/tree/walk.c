#include "proto/tree/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/utf8.h"
#include "proto/base/whole.h"
#include "proto/tree/beneath.h"
#include "proto/tree/ignore.h"

enum { MEBIBYTE = 1024 * 1024 };
enum { MOST_LEVELS = 200 }; /* of folders in each other: a descriptor each */

struct found { /* an entry as it was seen first */
    struct tree_entry entry;
    struct stat status;
};

struct walk {
    struct arena *arena;
    const char *folder;
    const struct walk_rules *rules;
    const char *above; /* of the folder, from the topmost .gitignore's on */
    int top;
    size_t n, most;
    struct found *found;
    struct walked *walked;
    struct ht_error *err;
};

struct level { /* a folder being read */
    int fd;
    const char *path; /* below the top, "" for the top */
    int depth;
    const struct ignore *ignore;
};

static enum ht_status fail(const struct walk *walk, int code, const char *path)
{
    return ht_fail_errno(walk->err, code, "cannot read %.80s/%.120s",
                         walk->folder, path);
}

static enum ht_status fail_changed(const struct walk *walk, const char *path)
{
    return ht_fail(walk->err, HT_CONFLICT,
                   "%.80s/%.120s changed while it was read", walk->folder,
                   path);
}

/* ---- what is there ---- */

static struct tree_entry *add(struct walk *walk, const char *path,
                              enum tree_kind kind, const struct stat *status)
{
    walk->found =
        arena_grow(walk->arena, walk->found, walk->n, sizeof *walk->found);
    struct found *found = &walk->found[walk->n++];
    found->entry = (struct tree_entry){.path = path, .kind = kind};
    found->status = *status;
    return &found->entry;
}

static enum ht_status add_link(struct walk *walk, const struct level *level,
                               const char *name, const char *path,
                               const struct stat *status)
{
    char target[PATH_MAX];
    const ssize_t n = readlinkat(level->fd, name, target, sizeof target - 1);
    if (n < 0)
        return errno == ENOENT || errno == EINVAL ? fail_changed(walk, path)
                                                  : fail(walk, errno, path);
    target[n] = '\0';
    if (!beneath_link_stays(path, target) ||
        !utf8_is_valid(target, (size_t)n)) {
        if (walk->walked->n_left_out++ == 0)
            walk->walked->left_out = path;
        return HT_OK;
    }
    add(walk, path, TREE_LINK, status)->target =
        arena_strdup(walk->arena, target);
    return HT_OK;
}

static void add_file(struct walk *walk, const char *path,
                     const struct stat *status)
{
    struct tree_entry *entry = add(walk, path, TREE_FILE, status);
    entry->mode = status->st_mode & 0777;
    entry->bytes = status->st_size;
    walk->walked->files++;
    walk->walked->bytes += status->st_size;
}

static enum ht_status read_level(struct walk *walk, const struct level *level);

/* Of a server that works in the folder. */
static bool is_ours(const struct walk *walk, int fd)
{
    return walk->rules->code && faccessat(fd, "hypertune.db", F_OK, 0) == 0;
}

static enum ht_status enter(struct walk *walk, const struct level *level,
                            const char *name, const char *path,
                            const struct stat *status)
{
    struct level below = {
        .path = path, .depth = level->depth + 1, .ignore = level->ignore};
    if (below.depth > MOST_LEVELS)
        return fail(walk, ELOOP, path);
    below.fd = openat(level->fd, name,
                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below.fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
                   ? fail_changed(walk, path)
                   : fail(walk, errno, path);
    const size_t before = walk->n;
    const size_t left_out = walk->walked->n_left_out;
    enum ht_status result = HT_OK;
    if (!is_ours(walk, below.fd)) {
        result = read_level(walk, &below);
        if (result == HT_OK && walk->n == before &&
            walk->walked->n_left_out == left_out)
            add(walk, path, TREE_FOLDER, status);
    }
    close(below.fd);
    return result;
}

bool walk_is_without(const char *without, const char *path)
{
    return without != NULL && strncmp(path, without, strlen(without)) == 0;
}

/* Is it in the way of the code? */
static bool is_ignored(struct walk *walk, const struct level *level,
                       const char *path, bool is_folder)
{
    if (level->ignore == NULL)
        return false;
    if (walk->above[0] != '\0')
        path = arena_printf(walk->arena, "%s/%s", walk->above, path);
    return ignore_has(level->ignore, path, is_folder);
}

static enum ht_status read_entry(struct walk *walk, const struct level *level,
                                 const char *name)
{
    struct stat status;
    const char *path = *level->path == '\0' ? arena_strdup(walk->arena, name)
                                            : arena_printf(walk->arena, "%s/%s",
                                                           level->path, name);
    if (walk->rules->code && strcmp(name, ".git") == 0)
        return HT_OK;
    if (fstatat(level->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? fail_changed(walk, path)
                               : fail(walk, errno, path);
    if (is_ignored(walk, level, path, S_ISDIR(status.st_mode)))
        return HT_OK;
    if (S_ISDIR(status.st_mode))
        return enter(walk, level, name, path, &status);
    if ((!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) ||
        walk_is_without(walk->rules->without, path))
        return HT_OK;
    if (!utf8_is_valid(path, strlen(path)))
        return ht_fail(walk->err, HT_INVALID, "the name of %.200s is not UTF-8",
                       path);
    if (strlen(path) > TREE_MOST_PATH)
        return ht_fail(walk->err, HT_INVALID, "the path %.150s... is too long",
                       path);
    if (walk->n >= walk->most)
        return ht_fail(walk->err, HT_TOO_LARGE,
                       "%.160s has more than %zu files", walk->folder,
                       walk->most);
    if (S_ISLNK(status.st_mode))
        return add_link(walk, level, name, path, &status);
    add_file(walk, path, &status);
    return HT_OK;
}

static enum ht_status read_rules(struct walk *walk, struct level *level)
{
    const char *path = level->path;
    if (!walk->rules->code)
        return HT_OK;
    if (walk->above[0] != '\0')
        path = *path == '\0'
                   ? walk->above
                   : arena_printf(walk->arena, "%s/%s", walk->above, path);
    const enum ht_status status = ignore_read(
        walk->arena, level->ignore, level->fd, path, &level->ignore, walk->err);
    walk->walked->git |= level->ignore != NULL;
    return status == HT_OK ? HT_OK
                           : ht_wrap(walk->err, status, "%.120s/%.60s",
                                     walk->folder, level->path);
}

static enum ht_status read_level(struct walk *walk, const struct level *level)
{
    struct level own = *level;
    enum ht_status status = read_rules(walk, &own);
    const int fd = openat(level->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        status = status == HT_OK ? fail(walk, errno, level->path) : status;
        if (fd >= 0)
            close(fd);
        return status;
    }
    struct dirent *entry;
    while (status == HT_OK && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = read_entry(walk, &own, entry->d_name);
    }
    closedir(dir);
    return status;
}

/* ---- what is too large ---- */

/* Bytes below the folder `path` of `len` bytes. */
static int64_t bytes_below(const struct walk *walk, const char *path,
                           size_t len)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < walk->n; i++) {
        const char *other = walk->found[i].entry.path;
        if (strncmp(other, path, len) == 0 &&
            (other[len] == '/' || other[len] == '\0'))
            bytes += walk->found[i].entry.bytes;
    }
    return bytes;
}

static void keep_largest(struct walk_part parts[WALK_PARTS],
                         struct walk_part part)
{
    for (size_t i = 0; i < WALK_PARTS; i++) {
        if (parts[i].path != NULL && parts[i].bytes >= part.bytes)
            continue;
        const struct walk_part other = parts[i];
        parts[i] = part;
        part = other;
    }
}

/* The parts directly below the folder of `len` bytes, once each: the entries
 * are sorted. */
static void find_largest(const struct walk *walk, const char *folder,
                         size_t len, struct walk_part parts[WALK_PARTS])
{
    const char *last = "";
    size_t last_len = 0;
    memset(parts, 0, WALK_PARTS * sizeof *parts);
    for (size_t i = 0; i < walk->n; i++) {
        const char *path = walk->found[i].entry.path;
        const size_t skip = len + (len > 0);
        if (len > 0 && (strncmp(path, folder, len) != 0 || path[len] != '/'))
            continue;
        const size_t part_len = skip + strcspn(path + skip, "/");
        if (part_len == last_len && strncmp(path, last, part_len) == 0)
            continue;
        last = path;
        last_len = part_len;
        keep_largest(parts, (struct walk_part){
                                arena_strndup(walk->arena, path, part_len),
                                bytes_below(walk, path, part_len)});
    }
}

/* A folder whose bytes are nearly all in one folder below is named by that. */
static void name_largest(struct walk *walk)
{
    struct walk_part below[WALK_PARTS];
    struct walk_part *parts = walk->walked->largest;
    find_largest(walk, "", 0, parts);
    for (size_t i = 0; i < WALK_PARTS && parts[i].path != NULL; i++) {
        for (;;) {
            find_largest(walk, parts[i].path, strlen(parts[i].path), below);
            if (below[0].path == NULL ||
                below[0].bytes < parts[i].bytes / 10 * 9)
                break;
            parts[i] = below[0];
        }
    }
}

/* ---- hashes ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
           a->st_size == b->st_size && a->st_mode == b->st_mode &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static enum ht_status hash_open(const struct walk *walk, struct found *found,
                                int fd, char *buffer)
{
    struct tree_entry *entry = &found->entry;
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail(walk, errno, entry->path);
    if (!is_same(&status, &found->status))
        return fail_changed(walk, entry->path);
    entry->n_chunks = tree_chunks(entry->bytes);
    struct tree_hash *chunks =
        arena_alloc(walk->arena, entry->n_chunks, sizeof *chunks);
    for (size_t i = 0; i < entry->n_chunks; i++) {
        const size_t len = tree_chunk_bytes(entry->bytes, i);
        const ssize_t n = whole_read(fd, buffer, len);
        if (n < 0)
            return fail(walk, errno, entry->path);
        if ((size_t)n < len)
            return fail_changed(walk, entry->path);
        token_sha256(chunks[i].bytes, buffer, len);
    }
    entry->chunks = chunks;
    if (fstat(fd, &status) != 0 || !is_same(&status, &found->status))
        return fail_changed(walk, entry->path);
    return HT_OK;
}

static enum ht_status hash_files(struct walk *walk)
{
    char *buffer = ht_xcalloc(TREE_CHUNK, 1);
    enum ht_status result = HT_OK;
    for (size_t i = 0; result == HT_OK && i < walk->n; i++) {
        struct found *found = &walk->found[i];
        if (found->entry.kind != TREE_FILE)
            continue;
        const int fd =
            beneath_open(walk->top, found->entry.path,
                         O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOATIME, 0);
        const int plain =
            fd < 0 && errno == EPERM /* only an owner may leave the time */
                ? beneath_open(walk->top, found->entry.path,
                               O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
                : fd;
        if (plain >= 0)
            result = hash_open(walk, found, plain, buffer);
        else
            result = errno == EACCES ? fail(walk, errno, found->entry.path)
                                     : fail_changed(walk, found->entry.path);
        if (plain >= 0)
            close(plain);
    }
    free(buffer);
    return result;
}

/* ---- all together ---- */

static int by_path(const void *a, const void *b)
{
    return tree_path_compare(((const struct found *)a)->entry.path,
                             ((const struct found *)b)->entry.path);
}

static enum ht_status check_bytes(struct walk *walk)
{
    const int64_t most = walk->rules->most_bytes;
    if (most == 0 || walk->walked->bytes <= most)
        return HT_OK;
    return ht_fail(walk->err, HT_TOO_LARGE,
                   "%.160s has %.1f MB, more than %lld", walk->folder,
                   (double)walk->walked->bytes / MEBIBYTE,
                   (long long)(most / MEBIBYTE));
}

static enum ht_status take(struct walk *walk)
{
    struct level top = {.fd = walk->top, .path = ""};
    enum ht_status status = HT_OK;
    if (walk->rules->code)
        status = ignore_read_above(walk->arena, walk->folder, &top.ignore,
                                   &walk->above, walk->err);
    if (status == HT_OK)
        status = read_level(walk, &top);
    if (walk->n > 0)
        qsort(walk->found, walk->n, sizeof *walk->found, by_path);
    if (status == HT_OK)
        status = check_bytes(walk);
    if (status == HT_TOO_LARGE)
        name_largest(walk);
    if (status == HT_OK)
        status = hash_files(walk);
    if (status != HT_OK)
        return status;
    struct tree_manifest *manifest = &walk->walked->manifest;
    manifest->n = walk->n;
    manifest->entries =
        arena_alloc(walk->arena, walk->n, sizeof *manifest->entries);
    for (size_t i = 0; i < walk->n; i++)
        manifest->entries[i] = walk->found[i].entry;
    return HT_OK;
}

enum ht_status walk_folder(struct arena *arena, const char *folder,
                           const struct walk_rules *rules,
                           struct walked *walked, struct ht_error *err)
{
    struct ht_error own;
    struct walk walk = {.arena = arena,
                        .folder = folder,
                        .rules = rules,
                        .above = "",
                        .walked = walked,
                        .err = err != NULL ? err : &own};
    *walked = (struct walked){.files = 0};
    walk.most =
        rules->most_entries > 0 ? rules->most_entries : TREE_MOST_ENTRIES;
    walk.top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (walk.top < 0)
        return ht_fail(err, errno == ENOENT ? HT_NOT_FOUND : HT_IO,
                       "cannot open the folder %.160s: %s", folder,
                       strerror(errno));
    const enum ht_status status = take(&walk);
    close(walk.top);
    return status;
}
