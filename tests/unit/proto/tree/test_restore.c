#include "proto/tree/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/file_tree.h"
#include "proto/tree/beneath.h"
#include "tests/check.h"

enum { PATH_BYTES = 300, REFUSED = 50 };

static char root[PATH_BYTES];
static struct arena *arena;
static const struct restore_rules plain;

static const char *in_root(const char *name)
{
    return arena_printf(arena, "%s/%s", root, name);
}

/* root/{outside/secret} */
static void begin(void)
{
    const char *base = getenv("TMPDIR");
    arena = arena_new();
    snprintf(root, sizeof root, "%s/restore-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(root) != NULL);
    CHECK(mkdir(in_root("outside"), 0700) == 0);
    umask(022);
}

static void end(void)
{
    CHECK(file_tree_remove(root, NULL, NULL) == HT_OK);
    arena_free(arena);
}

/* A file of `bytes` bytes, each the last digit of its chunk's number. */
static struct tree_entry a_file(const char *path, unsigned mode, int64_t bytes)
{
    static char chunk[TREE_CHUNK];
    const size_t n = tree_chunks(bytes);
    struct tree_hash *chunks = arena_alloc(arena, n + 1, sizeof *chunks);
    for (size_t i = 0; i < n; i++) {
        memset(chunk, '0' + (int)(i % 10), sizeof chunk);
        token_sha256(chunks[i].bytes, chunk, tree_chunk_bytes(bytes, i));
    }
    return (struct tree_entry){.path = path,
                               .mode = mode,
                               .bytes = bytes,
                               .n_chunks = n,
                               .chunks = chunks};
}

static struct tree_entry a_link(const char *path, const char *target)
{
    return (struct tree_entry){
        .path = path, .kind = TREE_LINK, .target = target};
}

static enum ht_status put(struct restore *restore,
                          const struct restore_chunk *chunk,
                          struct ht_error *err)
{
    static char bytes[TREE_CHUNK];
    memset(bytes, '0' + (int)(chunk->index % 10), sizeof bytes);
    return restore_put(restore, chunk, bytes, chunk->bytes, err);
}

/* With so many chunks at once, the last of them first. */
static enum ht_status restore_all(const struct tree_manifest *manifest,
                                  const char *folder,
                                  const struct restore_rules *rules,
                                  size_t at_once, struct ht_error *err)
{
    struct restore *restore = NULL;
    struct restore_chunk chunks[16];
    bool has = true;
    enum ht_status status =
        restore_begin(manifest, folder, rules, &restore, err);
    while (status == HT_OK && has) {
        size_t n = 0;
        while (status == HT_OK && n < at_once &&
               (status = restore_next(restore, &chunks[n], &has, err)) ==
                   HT_OK &&
               has)
            n++;
        while (status == HT_OK && n > 0)
            status = put(restore, &chunks[--n], err);
    }
    if (status == HT_OK)
        status = restore_end(restore, err);
    restore_free(restore);
    return status;
}

static unsigned mode_of(const char *name)
{
    struct stat status;
    return lstat(in_root(name), &status) == 0 ? status.st_mode & 07777 : 0;
}

static void chunks_in_any_order_become_the_folder(void)
{
    begin();
    struct tree_entry entries[] = {
        a_file("a", 06600, 0),
        a_file("d/e/large", 04755, 2 * TREE_CHUNK + 7),
        a_file("d/e/little", 0640, 3),
        {.path = "d/e/none", .kind = TREE_FOLDER},
        a_link("link", "d/e")};
    const struct tree_manifest manifest = {5, entries};
    for (size_t at_once = 1; at_once <= 4; at_once++) {
        const struct restore_rules rules = {.sync = at_once == 2};
        CHECK(restore_all(&manifest, in_root("into"), &rules, at_once, NULL) ==
              HT_OK);
        CHECK(mode_of("into/a") == 0600);
        CHECK(mode_of("into/d/e/large") == 0755);
        CHECK(mode_of("into/d/e/little") == 0640);
        CHECK(mode_of("into/d/e/none") == 0755);
        char byte = 0;
        struct stat status;
        const int fd = open(in_root("into/link/large"), O_RDONLY | O_CLOEXEC);
        CHECK(fstat(fd, &status) == 0 && status.st_size == 2 * TREE_CHUNK + 7);
        CHECK(pread(fd, &byte, 1, TREE_CHUNK) == 1 && byte == '1');
        close(fd);
        CHECK(file_tree_remove(in_root("into"), NULL, NULL) == HT_OK);
    }
    const struct restore_rules readable = {.readable = true};
    CHECK(restore_all(&manifest, in_root("into"), &readable, 1, NULL) == HT_OK);
    CHECK(mode_of("into/a") == 0644);
    CHECK(mode_of("into/d/e/large") == 0755);
    struct ht_error err;
    CHECK(restore_all(&manifest, in_root("into"), &plain, 1, &err) ==
          HT_EXISTS);
    end();
}

static void wrong_bytes_are_not_written(void)
{
    struct restore *restore = NULL;
    struct restore_chunk chunk;
    struct ht_error err;
    struct stat status;
    bool has;
    begin();
    struct tree_entry entry = a_file("a", 0644, 3);
    const struct tree_manifest manifest = {1, &entry};
    CHECK(restore_begin(&manifest, in_root("into"), &plain, &restore, &err) ==
          HT_OK);
    CHECK(restore_next(restore, &chunk, &has, &err) == HT_OK && has);
    CHECK(restore_put(restore, &chunk, "001", 3, &err) == HT_CORRUPT);
    CHECK(restore_put(restore, &chunk, "0000", 4, &err) == HT_CORRUPT);
    CHECK(restore_put(restore, &chunk, "00", 2, &err) == HT_CORRUPT);
    CHECK(stat(in_root("into/a"), &status) == 0 && status.st_size == 0);
    CHECK(restore_put(restore, &chunk, "000", 3, &err) == HT_OK);
    CHECK(restore_next(restore, &chunk, &has, &err) == HT_OK && !has);
    restore_free(restore);
    end();
}

/* The reader of manifests refuses these, too; here they come without it. */
static void a_hostile_manifest_makes_nothing_outside(void)
{
    begin();
    const struct tree_entry hostile[] = {
        a_file("../outside/x", 0644, 3),
        a_file("/tmp/hypertune-hostile", 0644, 3),
        a_file("a/../../outside/x", 0644, 3),
        a_file("a//b", 0644, 3),
        a_file("a/./b", 0644, 3),
        a_file("", 0644, 3),
        a_file("a/", 0644, 3),
        a_file("..", 0644, 3),
        a_link("x", "/etc/passwd"),
        a_link("x", "../outside"),
        a_link("x", "y/../../outside"),
        a_link("x", ""),
        a_link("x", NULL),
        {.path = "../outside/folder", .kind = TREE_FOLDER},
        {.path = "wrong", .bytes = 5, .n_chunks = 0},
        {.path = "wrong", .bytes = -1, .n_chunks = 0},
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct ht_error err;
        struct tree_entry entry = hostile[i];
        const struct tree_manifest manifest = {1, &entry};
        CHECK(restore_all(&manifest, in_root("into"), &plain, 1, &err) ==
              HT_INVALID);
        CHECK(file_tree_remove(in_root("into"), NULL, NULL) == HT_OK);
    }
    CHECK(rmdir(in_root("outside")) == 0); /* still empty */
    CHECK(mkdir(in_root("outside"), 0700) == 0);
    end();
}

/* A file and a folder of one name, a link where files go. */
static void entries_do_not_pass_each_other(void)
{
    struct ht_error err;
    begin();
    struct tree_entry twice[] = {a_file("a", 0644, 3), a_file("a", 0644, 3)};
    struct tree_entry below[] = {a_file("a", 0644, 0), a_file("a/b", 0644, 3)};
    struct tree_entry over[] = {a_link("a", "b"),
                                a_file("a/c", 0644, 3),
                                {.path = "b", .kind = TREE_FOLDER}};
    const struct tree_manifest manifests[] = {
        {2, twice}, {2, below}, {3, over}};
    for (size_t i = 0; i < 3; i++) {
        CHECK(restore_all(&manifests[i], in_root("into"), &plain, 4, &err) ==
              HT_IO);
        CHECK(file_tree_remove(in_root("into"), NULL, NULL) == HT_OK);
    }
    end();
}

static atomic_bool stopped;

/* Exchanges into/d for a link to outside, and back. */
static void *swap(void *unused)
{
    const char *folder = in_root("into/d"), *aside = in_root("aside");
    (void)unused;
    while (!atomic_load(&stopped)) {
        if (rename(folder, aside) != 0)
            continue;
        if (symlink("../outside", folder) == 0)
            (void)unlink(folder);
        if (rename(aside, folder) != 0)
            (void)file_tree_remove(aside, NULL, NULL);
    }
    return NULL;
}

static void no_race_leads_outside(void)
{
    struct tree_entry entries[40];
    pthread_t other;
    begin();
    enum { N = sizeof entries / sizeof *entries };
    for (size_t i = 0; i < N; i++)
        entries[i] = a_file(arena_printf(arena, "d/%02zu", i), 0644, 3);
    const struct tree_manifest manifest = {N, entries};
    atomic_store(&stopped, false);
    CHECK(pthread_create(&other, NULL, swap, NULL) == 0);
    int refused = 0;
    while (refused < REFUSED) {
        struct ht_error err;
        refused +=
            restore_all(&manifest, in_root("into"), &plain, 1, &err) != HT_OK;
        while (file_tree_remove(in_root("into"), NULL, NULL) != HT_OK &&
               access(in_root("into"), F_OK) == 0)
            continue;
    }
    atomic_store(&stopped, true);
    pthread_join(other, NULL);
    CHECK(rmdir(in_root("outside")) == 0); /* nothing is in it */
    end();
}

/* With openat2() and, for old kernels, without. */
static void no_link_is_passed(void)
{
    static int (*const ways[])(int, const char *, int,
                               mode_t) = {beneath_open, beneath_open_by_parts};
    begin();
    CHECK(mkdir(in_root("d"), 0700) == 0);
    CHECK(symlink("d", in_root("l")) == 0);
    CHECK(symlink("d/f", in_root("m")) == 0);
    const int top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < 2; i++) {
        const int fd = ways[i](top, "d/f", O_WRONLY | O_CREAT | O_EXCL, 0600);
        CHECK(fd >= 0);
        close(fd);
        CHECK(ways[i](top, "d/f", O_WRONLY | O_CREAT | O_EXCL, 0600) < 0 &&
              errno == EEXIST);
        CHECK(ways[i](top, "l/f", O_RDONLY, 0) < 0);
        CHECK(ways[i](top, "m", O_RDONLY, 0) < 0 && errno == ELOOP);
        CHECK(ways[i](top, "../outside", O_RDONLY, 0) < 0 && errno == EXDEV);
        CHECK(ways[i](top, "d/f/x", O_RDONLY, 0) < 0 && errno == ENOTDIR);
        CHECK(unlink(in_root("d/f")) == 0);
    }
    close(top);
    end();
}

int main(void)
{
    RUN(chunks_in_any_order_become_the_folder);
    RUN(wrong_bytes_are_not_written);
    RUN(a_hostile_manifest_makes_nothing_outside);
    RUN(entries_do_not_pass_each_other);
    RUN(no_race_leads_outside);
    RUN(no_link_is_passed);
    return check_done();
}
