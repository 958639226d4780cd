#include "tuner/backup/store_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "proto/base/arena.h"
#include "proto/base/whole.h"
#include "tuner/base/disk_room.h"
#include "tuner/db/copy.h"
#include "tuner/store/chunk_set.h"
#include "tuner/store/manifest_file.h"
#include "tuner/store/project.h"

struct copying {
    const struct store_copy_order *order; /* NULL: it is verified */
    struct arena *arena;                  /* of one entry */
    struct chunk_set done;
    char *piece;          /* TREE_CHUNK bytes */
    int from, to;         /* descriptors of both folders; -1: none */
    struct project whose; /* of this tree, below `from` */
    const char *tree;     /* for errors */
    int64_t trees;
};

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Of the folder `store` in the folder; -1 with errno. */
static int open_store(const char *folder, bool make)
{
    const int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = -1;
    if (at >= 0 && (!make || mkdirat(at, STORE_FOLDER, 0700) == 0))
        fd = open_folder(at, STORE_FOLDER);
    const int failed = errno;
    if (at >= 0)
        close(at);
    errno = failed;
    return fd;
}

static enum ht_status fail_missing(const struct copying *copying,
                                   const struct project_path *path,
                                   struct ht_error *err)
{
    return ht_fail(err, HT_CORRUPT,
                   "store/%.120s of the tree %.16s... is missing or damaged",
                   path->text, copying->tree);
}

/* --- one file --- */

static bool make_parents(int root, const struct project_path *path)
{
    struct project_path parent = *path;
    for (char *at = strchr(parent.text, '/'); at != NULL;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdirat(root, parent.text, 0700) != 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    return true;
}

static bool copy_bytes(const struct copying *copying, int in, int out)
{
    ssize_t n = 1;
    while (n > 0) {
        n = read(in, copying->piece, TREE_CHUNK);
        if (n < 0 || !whole_write(out, copying->piece, (size_t)n))
            return false;
    }
    return true;
}

/* A second name of it where that can be. */
static enum ht_status take_file(const struct copying *copying,
                                const struct project_path *path,
                                struct ht_error *err)
{
    if (!make_parents(copying->to, path))
        return ht_fail_errno(err, errno, "cannot make a folder of %s",
                             path->text);
    if (linkat(copying->from, path->text, copying->to, path->text, 0) == 0 ||
        errno == EEXIST)
        return HT_OK;
    const int in =
        openat(copying->from, path->text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0)
        return fail_missing(copying, path, err);
    const int out = openat(copying->to, path->text,
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
    const bool good = out >= 0 && copy_bytes(copying, in, out);
    const int failed = errno;
    close(in);
    if (out >= 0)
        close(out);
    return good
               ? HT_OK
               : ht_fail_errno(err, failed, "cannot copy store/%s", path->text);
}

/* Whether its bytes have that SHA-256, and how many they are. */
static enum ht_status sum_file(const struct copying *copying,
                               const struct project_path *path,
                               const char *name, int64_t bytes,
                               struct ht_error *err)
{
    struct sha256_ctx hash;
    unsigned char digest[TOKEN_HASH_BYTES];
    char found[TREE_NAME];
    int64_t all = 0;
    ssize_t n = 1;
    const int fd =
        openat(copying->from, path->text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fail_missing(copying, path, err);
    sha256_init(&hash);
    while (n > 0) {
        n = read(fd, copying->piece, TREE_CHUNK);
        sha256_update(&hash, n > 0 ? (size_t)n : 0,
                      (const uint8_t *)copying->piece);
        all += n > 0 ? n : 0;
    }
    const int failed = errno;
    close(fd);
    if (n < 0)
        return ht_fail_errno(err, failed, "cannot read store/%s", path->text);
    sha256_digest(&hash, sizeof digest, digest);
    token_hex(found, digest);
    return strcmp(found, name) == 0 && (bytes < 0 || all == bytes)
               ? HT_OK
               : fail_missing(copying, path, err);
}

static enum ht_status do_file(const struct copying *copying,
                              const struct project_path *path, const char *name,
                              int64_t bytes, struct ht_error *err)
{
    return copying->order != NULL ? take_file(copying, path, err)
                                  : sum_file(copying, path, name, bytes, err);
}

/* --- one tree --- */

static enum ht_status do_chunks(void *context, const struct tree_entry *entry,
                                struct ht_error *err)
{
    struct copying *copying = context;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < entry->n_chunks; i++) {
        char name[TREE_NAME];
        if (chunk_set_has(&copying->done, &entry->chunks[i]))
            continue;
        chunk_set_add(&copying->done, &entry->chunks[i]);
        token_hex(name, entry->chunks[i].bytes);
        const struct project_path path = project_chunk(&copying->whose, name);
        status = do_file(copying, &path, name,
                         (int64_t)tree_chunk_bytes(entry->bytes, i), err);
    }
    return status;
}

/* With the first tree the folder is made. */
static enum ht_status check_going(struct copying *copying, struct ht_error *err)
{
    const struct store_copy_order *order = copying->order;
    if (order == NULL)
        return HT_OK;
    if (copying->to < 0 && (copying->to = open_store(order->to, true)) < 0)
        return ht_fail_errno(err, errno, "cannot make %s/store", order->to);
    if (order->stopping != NULL && atomic_load(order->stopping))
        return ht_fail(err, HT_UNAVAILABLE, "the server is stopping");
    const struct disk_room room = disk_room_look(order->to);
    return room.state != DISK_RESERVED
               ? HT_OK
               : ht_fail(err, HT_UNAVAILABLE,
                         "the disk of %.160s has no room for the store",
                         order->to);
}

static enum ht_status do_tree(void *context, const char *project,
                              const char *tree, struct ht_error *err)
{
    struct copying *copying = context;
    enum ht_status status = check_going(copying, err);
    if (status == HT_OK && strcmp(copying->whose.name, project) != 0) {
        chunk_set_free(&copying->done); /* projects share none */
        snprintf(copying->whose.name, sizeof copying->whose.name, "%s",
                 project);
        status = folder_name_make(project, copying->whose.folder, err);
    }
    if (status != HT_OK)
        return status;
    copying->tree = tree;
    copying->trees++;
    const struct project_path path = project_tree(&copying->whose, tree);
    status = do_file(copying, &path, tree, -1, err);
    if (status != HT_OK)
        return status;
    const int fd =
        openat(copying->from, path.text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fail_missing(copying, &path, err);
    status = manifest_file_visit(copying->arena, fd, do_chunks, copying, err);
    close(fd);
    return status == HT_INVALID || status == HT_TOO_LARGE
               ? fail_missing(copying, &path, err)
               : status;
}

static enum ht_status do_all(struct copying *copying, const char *database,
                             bool alone, struct ht_error *err)
{
    copying->arena = arena_new();
    copying->piece = ht_xrealloc(NULL, TREE_CHUNK, 1);
    const enum ht_status status =
        db_trees_each(database, alone, do_tree, copying, err);
    chunk_set_free(&copying->done);
    free(copying->piece);
    arena_free(copying->arena);
    return status;
}

enum ht_status store_copy_make(const struct store_copy_order *order,
                               struct ht_error *err)
{
    struct copying copying = {
        .order = order, .from = open_store(order->from, false), .to = -1};
    enum ht_status status = do_all(&copying, order->database, true, err);
    if (status == HT_OK && copying.to >= 0 && syncfs(copying.to) != 0)
        status = ht_fail_errno(err, errno, "cannot sync %s/store", order->to);
    if (copying.from >= 0)
        close(copying.from);
    if (copying.to >= 0)
        close(copying.to);
    return status;
}

enum ht_status store_copy_verify(const char *folder, const char *database,
                                 bool alone, int64_t *trees,
                                 struct ht_error *err)
{
    struct copying copying = {.from = open_store(folder, false), .to = -1};
    const enum ht_status status = do_all(&copying, database, alone, err);
    if (copying.from >= 0)
        close(copying.from);
    *trees = copying.trees;
    return status;
}
