#include "tuner/webhook/signing_key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_BYTES = 4096 };

static enum ht_status check_file(const struct stat *info, struct ht_error *err)
{
    if (!S_ISREG(info->st_mode))
        return ht_fail(err, HT_INVALID, "is no regular file");
    if (info->st_uid != geteuid() && info->st_uid != 0)
        return ht_fail(err, HT_INVALID,
                       "belongs to user %u, not to the server's",
                       (unsigned)info->st_uid);
    if ((info->st_mode & 077) != 0)
        return ht_fail(err, HT_INVALID,
                       "is open to others, its mode is %03o: chmod 600",
                       (unsigned)(info->st_mode & 0777));
    return HT_OK;
}

static enum ht_status read_text(int fd, struct arena *arena,
                                const char **secret, struct ht_error *err)
{
    char text[SECRET_BYTES + 1];
    const ssize_t n = read(fd, text, sizeof text);
    size_t len = n > 0 ? (size_t)n : 0;
    if (n < 0)
        return ht_fail(err, HT_INVALID, "cannot be read: %s", strerror(errno));
    if (len > SECRET_BYTES)
        return ht_fail(err, HT_INVALID, "has more than %d bytes", SECRET_BYTES);
    if (len > 0 && text[len - 1] == '\n')
        len--;
    if (len > 0 && text[len - 1] == '\r')
        len--;
    if (len == 0)
        return ht_fail(err, HT_INVALID, "is empty");
    if (memchr(text, '\0', len) != NULL)
        return ht_fail(err, HT_INVALID, "is no text");
    *secret = arena_strndup(arena, text, len);
    return HT_OK;
}

enum ht_status webhook_secret_read(struct arena *arena, const char *folder,
                                   const char *path, const char **secret,
                                   struct ht_error *err)
{
    struct stat info;
    const char *whole =
        path[0] == '/' ? path : arena_printf(arena, "%s/%s", folder, path);
    const int fd = open(whole, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP)
        return ht_fail(err, HT_INVALID, "is a link");
    if (fd < 0)
        return ht_fail(err, HT_INVALID, "cannot be read: %s", strerror(errno));
    enum ht_status status =
        fstat(fd, &info) == 0
            ? check_file(&info, err)
            : ht_fail(err, HT_INVALID, "cannot be read: %s", strerror(errno));
    if (status == HT_OK)
        status = read_text(fd, arena, secret, err);
    close(fd);
    return status;
}
