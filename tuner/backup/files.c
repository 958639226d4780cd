#include "tuner/backup/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "proto/base/whole.h"

_Static_assert((int)TOKEN_HASH_BYTES == (int)SHA256_DIGEST_SIZE, "of SHA-256");

enum { PIECE = 1024 * 1024 };

/* `to` may be -1: the file is only read. False with errno. */
static bool pass(int from, int to, struct file_sum *sum)
{
    struct sha256_ctx hash;
    unsigned char digest[TOKEN_HASH_BYTES];
    char *piece = ht_xcalloc(PIECE, 1);
    ssize_t n = 1;
    bool good = true;
    sum->bytes = 0;
    sha256_init(&hash);
    while (good && n > 0) {
        n = read(from, piece, PIECE);
        good = n >= 0 && (to < 0 || whole_write(to, piece, (size_t)n));
        if (good)
            sha256_update(&hash, (size_t)n, (const unsigned char *)piece);
        sum->bytes += n > 0 ? n : 0;
    }
    const int failed = errno;
    free(piece);
    sha256_digest(&hash, sizeof digest, digest);
    token_hex(sum->sha256, digest);
    errno = failed;
    return good;
}

enum ht_status files_sum(const char *path, struct file_sum *sum,
                         struct ht_error *err)
{
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool good = fd >= 0 && pass(fd, -1, sum);
    const int failed = errno;
    if (fd >= 0)
        close(fd);
    return good ? HT_OK : ht_fail_errno(err, failed, "cannot read %s", path);
}

enum ht_status files_copy(const char *from, const char *to,
                          struct file_sum *sum, struct ht_error *err)
{
    const int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0)
        return ht_fail_errno(err, errno, "cannot read %s", from);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool good = out >= 0 && pass(in, out, sum) && fsync(out) == 0;
    const int failed = errno;
    close(in);
    if (out >= 0)
        close(out);
    if (good)
        return HT_OK;
    if (out >= 0)
        unlink(to);
    return ht_fail_errno(err, failed, "cannot copy %s to %s", from, to);
}

enum ht_status files_sync_folder(const char *folder, struct ht_error *err)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = fd >= 0 && fsync(fd) == 0;
    const int failed = errno;
    if (fd >= 0)
        close(fd);
    return good ? HT_OK : ht_fail_errno(err, failed, "cannot sync %s", folder);
}

enum ht_status files_list(struct arena *arena, const char *folder,
                          struct file_names *names, struct ht_error *err)
{
    DIR *all = opendir(folder);
    const struct dirent *one;
    *names = (struct file_names){0};
    if (all == NULL)
        return ht_fail_errno(err, errno, "cannot read %s", folder);
    while ((one = readdir(all)) != NULL) {
        if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0)
            continue;
        names->items =
            arena_grow(arena, names->items, names->n, sizeof *names->items);
        names->items[names->n++] = arena_strdup(arena, one->d_name);
    }
    closedir(all);
    return HT_OK;
}

bool files_exist(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0;
}

int64_t files_size(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 ? (int64_t)found.st_size : 0;
}
