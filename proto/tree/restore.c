#include "proto/tree/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/whole.h"
#include "proto/tree/beneath.h"

enum { FOLDER_MODE = 0755 };

struct open_file {
    struct open_file *next;
    size_t entry;
    size_t left; /* chunks that are not written */
    int fd;
};

struct restore {
    const struct tree_manifest *manifest;
    const char *folder;
    struct arena *arena;
    struct restore_rules rules;
    int top;
    size_t entry, index; /* of the next chunk */
    struct open_file *files;
};

static enum ht_status fail(const struct restore *restore, const char *path,
                           struct ht_error *err)
{
    return ht_fail_errno(err, errno, "cannot make %.100s/%.100s",
                         restore->folder, path);
}

/* ---- hostile manifests ---- */

static bool is_path(const char *path)
{
    size_t len;
    if (path[0] == '\0' || strlen(path) > TREE_MOST_PATH)
        return false;
    for (;; path += len + 1) {
        len = strcspn(path, "/");
        if (len == 0 || len > TREE_MOST_PART ||
            (path[0] == '.' && (len == 1 || (len == 2 && path[1] == '.'))))
            return false;
        if (path[len] == '\0')
            return true;
    }
}

static enum ht_status check(const struct tree_entry *entry,
                            struct ht_error *err)
{
    const char *fault = NULL;
    if (!is_path(entry->path))
        fault = "its path may lead out of the folder";
    else if (entry->kind == TREE_LINK &&
             (entry->target == NULL || strlen(entry->target) > TREE_MOST_PATH ||
              !beneath_link_stays(entry->path, entry->target)))
        fault = "the link leads out of the folder";
    else if (entry->kind == TREE_FILE &&
             (entry->bytes < 0 || entry->n_chunks != tree_chunks(entry->bytes)))
        fault = "it has another number of chunks than its bytes need";
    return fault == NULL ? HT_OK
                         : ht_fail(err, HT_INVALID, "tree: %.150s: %s",
                                   entry->path, fault);
}

/* ---- folders and empty files ---- */

static bool make_folder(const struct restore *restore, const char *path)
{
    const char *name;
    const int parent = beneath_open_parent(restore->top, path, &name);
    if (parent < 0)
        return false;
    const bool made = mkdirat(parent, name, FOLDER_MODE) == 0;
    const int code = errno;
    close(parent);
    if (made || code != EEXIST) {
        errno = code;
        return made;
    }
    const int there = beneath_open(restore->top, path, O_PATH | O_DIRECTORY, 0);
    if (there >= 0)
        close(there);
    return there >= 0;
}

/* The folders of a path but its last part, unless the entry before had them.
 */
static bool make_parents(struct restore *restore, const char *path,
                         const char *before)
{
    for (size_t len = strcspn(path, "/"); path[len] != '\0';
         len += 1 + strcspn(path + len + 1, "/")) {
        if (strncmp(path, before, len + 1) == 0)
            continue;
        char parent[TREE_MOST_PATH + 1];
        (void)snprintf(parent, sizeof parent, "%.*s", (int)len, path);
        if (!make_folder(restore, parent))
            return false;
    }
    return true;
}

static unsigned mode_of(const struct restore *restore,
                        const struct tree_entry *entry)
{
    unsigned mode = entry->mode & 0777;
    if (restore->rules.readable)
        mode |= 0444 | ((mode & 0100) != 0 ? 0111 : 0);
    return mode;
}

static int make_file(const struct restore *restore, const char *path)
{
    return beneath_open(restore->top, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
}

/* Closes the descriptor. */
static bool complete_file(const struct restore *restore,
                          const struct tree_entry *entry, int fd)
{
    const bool done = fchmod(fd, mode_of(restore, entry)) == 0 &&
                      (!restore->rules.sync || fsync(fd) == 0);
    return close(fd) == 0 && done;
}

static enum ht_status make_all(struct restore *restore, struct ht_error *err)
{
    const char *before = "";
    for (size_t i = 0; i < restore->manifest->n; i++) {
        const struct tree_entry *entry = &restore->manifest->entries[i];
        enum ht_status status = check(entry, err);
        if (status != HT_OK)
            return status;
        bool done = make_parents(restore, entry->path, before);
        if (done && entry->kind == TREE_FOLDER)
            done = make_folder(restore, entry->path);
        if (done && entry->kind == TREE_FILE && entry->n_chunks == 0) {
            const int fd = make_file(restore, entry->path);
            done = fd >= 0 && complete_file(restore, entry, fd);
        }
        if (!done)
            return fail(restore, entry->path, err);
        before = entry->path;
    }
    return HT_OK;
}

enum ht_status restore_begin(const struct tree_manifest *manifest,
                             const char *folder,
                             const struct restore_rules *rules,
                             struct restore **restore, struct ht_error *err)
{
    if (mkdir(folder, FOLDER_MODE) != 0)
        return errno == EEXIST
                   ? ht_fail(err, HT_EXISTS, "%.200s is there already", folder)
                   : ht_fail_errno(err, errno, "cannot make %.200s", folder);
    struct arena *arena = arena_new();
    struct restore *made = arena_alloc(arena, 1, sizeof *made);
    *made = (struct restore){.manifest = manifest,
                             .folder = arena_strdup(arena, folder),
                             .arena = arena,
                             .rules = *rules};
    made->top = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const enum ht_status status =
        made->top >= 0
            ? make_all(made, err)
            : ht_fail_errno(err, errno, "cannot open %.200s", folder);
    if (status == HT_OK)
        *restore = made;
    else
        restore_free(made);
    return status;
}

void restore_free(struct restore *restore)
{
    if (restore == NULL)
        return;
    for (const struct open_file *file = restore->files; file != NULL;
         file = file->next) {
        if (file->fd >= 0)
            close(file->fd);
    }
    if (restore->top >= 0)
        close(restore->top);
    arena_free(restore->arena);
}

/* ---- chunks ---- */

static bool open_next(struct restore *restore, const struct tree_entry *entry)
{
    struct open_file *file = restore->files;
    while (file != NULL && file->fd >= 0) /* one that is closed is used again */
        file = file->next;
    const int fd = make_file(restore, entry->path);
    if (fd < 0)
        return false;
    if (file == NULL) {
        file = arena_alloc(restore->arena, 1, sizeof *file);
        file->next = restore->files;
        restore->files = file;
    }
    file->entry = restore->entry;
    file->left = entry->n_chunks;
    file->fd = fd;
    return true;
}

enum ht_status restore_next(struct restore *restore,
                            struct restore_chunk *chunk, bool *has,
                            struct ht_error *err)
{
    const struct tree_manifest *manifest = restore->manifest;
    while (restore->entry < manifest->n &&
           restore->index >= manifest->entries[restore->entry].n_chunks) {
        restore->entry++;
        restore->index = 0;
    }
    *has = restore->entry < manifest->n;
    if (!*has)
        return HT_OK;
    const struct tree_entry *entry = &manifest->entries[restore->entry];
    if (restore->index == 0 && !open_next(restore, entry))
        return fail(restore, entry->path, err);
    *chunk = (struct restore_chunk){
        .entry = restore->entry,
        .index = restore->index,
        .hash = &entry->chunks[restore->index],
        .bytes = tree_chunk_bytes(entry->bytes, restore->index)};
    restore->index++;
    return HT_OK;
}

enum ht_status restore_put(struct restore *restore,
                           const struct restore_chunk *chunk, const void *bytes,
                           size_t len, struct ht_error *err)
{
    const struct tree_entry *entry = &restore->manifest->entries[chunk->entry];
    struct tree_hash hash;
    token_sha256(hash.bytes, bytes, len);
    if (len != chunk->bytes ||
        memcmp(hash.bytes, chunk->hash->bytes, sizeof hash.bytes) != 0)
        return ht_fail(err, HT_CORRUPT,
                       "a chunk of %.150s is not what its name says",
                       entry->path);
    struct open_file *file = restore->files;
    while (file->fd < 0 || file->entry != chunk->entry)
        file = file->next;
    if (!whole_write_at(file->fd, bytes, len,
                        (int64_t)chunk->index * TREE_CHUNK))
        return fail(restore, entry->path, err);
    if (--file->left > 0)
        return HT_OK;
    const int fd = file->fd;
    file->fd = -1;
    return complete_file(restore, entry, fd) ? HT_OK
                                             : fail(restore, entry->path, err);
}

/* ---- the end ---- */

static bool make_link(const struct restore *restore,
                      const struct tree_entry *entry)
{
    const char *name;
    const int parent = beneath_open_parent(restore->top, entry->path, &name);
    if (parent < 0)
        return false;
    const bool made = symlinkat(entry->target, parent, name) == 0;
    const int code = errno;
    close(parent);
    errno = code;
    return made;
}

enum ht_status restore_end(struct restore *restore, struct ht_error *err)
{
    for (size_t i = 0; i < restore->manifest->n; i++) {
        const struct tree_entry *entry = &restore->manifest->entries[i];
        if (entry->kind == TREE_LINK && !make_link(restore, entry))
            return fail(restore, entry->path, err);
    }
    if (restore->rules.sync && syncfs(restore->top) != 0)
        return fail(restore, "", err);
    return HT_OK;
}
