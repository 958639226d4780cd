#include "proto/base/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/replace_file.h"

enum { MOST = 1 << 20 };

static struct seal_keys keys;
static const char *data_folder;

void secret_file_use(struct seal_keys used, const char *folder)
{
    keys = used;
    data_folder = folder;
}

void secret_wipe(struct text *secret)
{
    if (secret->data != NULL)
        explicit_bzero(secret->data, secret->cap);
    text_free(secret);
}

/* ---- paths ---- */

struct place {
    const char *folder, *file;
};

static struct place split(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return (struct place){".", path};
    return (struct place){
        slash == path ? "/"
                      : arena_strndup(arena, path, (size_t)(slash - path)),
        slash + 1};
}

/* The name that it is sealed with: a copy of the data folder elsewhere has the
 * same. */
static const char *name_of(struct arena *arena, const char *path)
{
    static const char next[] = "next-";
    const struct place place = split(arena, path);
    const char *file = place.file, *inside = "";
    const size_t len = data_folder != NULL ? strlen(data_folder) : 0;
    char *real = realpath(place.folder, NULL);
    if (strncmp(file, next, sizeof next - 1) == 0)
        file += sizeof next - 1;
    if (real != NULL && len > 0 && strncmp(real, data_folder, len) == 0 &&
        real[len] == '/')
        inside = arena_printf(arena, "%s/", real + len + 1);
    const char *name = arena_printf(arena, "%s%s", inside, file);
    free(real);
    return name;
}

/* ---- files ---- */

static enum ht_status read_whole(const char *path, int flags, struct text *text,
                                 struct ht_error *err)
{
    char part[4096];
    ssize_t n = -1;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    if (fd >= 0)
        while ((n = read(fd, part, sizeof part)) > 0 && text->len < MOST)
            text_append(text, part, (size_t)n);
    const int failed = n > 0 ? EFBIG : errno;
    explicit_bzero(part, sizeof part);
    if (fd >= 0)
        close(fd);
    return n == 0 ? HT_OK : ht_fail_errno(err, failed, "cannot read %s", path);
}

enum ht_status secret_file_open(const char *path, const char *text,
                                struct text *secret, struct ht_error *err)
{
    if (!seal_is_on(text)) {
        text_puts(secret, text);
        return HT_OK;
    }
    struct arena *arena = arena_new();
    const enum ht_status status =
        seal_open(keys, name_of(arena, path), text, secret, err);
    arena_free(arena);
    return status;
}

enum ht_status secret_file_read(const char *path, struct text *secret,
                                struct ht_error *err)
{
    struct text text = {0};
    enum ht_status status = read_whole(path, 0, &text, err);
    if (status == HT_OK)
        status = secret_file_open(path, text_string(&text), secret, err);
    secret_wipe(&text);
    return status;
}

enum ht_status secret_file_write(const char *path, const char *bytes,
                                 size_t len, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct text sealed = {0};
    const struct place place = split(arena, path);
    if (keys.key != NULL)
        seal_close(keys.key, name_of(arena, path), bytes, len, &sealed);
    const enum ht_status status = replace_file(
        place.folder, place.file, keys.key != NULL ? sealed.data : bytes,
        keys.key != NULL ? sealed.len : len, err);
    text_free(&sealed);
    arena_free(arena);
    return status;
}

bool secret_file_is_sealed(const char *path)
{
    char head[16] = "";
    struct stat found;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool read_some = fd >= 0 && fstat(fd, &found) == 0 &&
                           S_ISREG(found.st_mode) &&
                           read(fd, head, sizeof head - 1) > 0;
    if (fd >= 0)
        close(fd);
    return read_some && seal_is_on(head);
}

static enum ht_status settle(const char *path, const char *text,
                             enum secret_state *state, struct ht_error *err)
{
    struct text secret = {0};
    enum ht_status status = secret_file_open(path, text, &secret, err);
    if (status == HT_OK && keys.key != NULL && !seal_is_by(text, keys.key))
        status = secret_file_write(path, secret.data, secret.len, err);
    secret_wipe(&secret);
    *state = keys.key != NULL ? SECRET_SEALED : SECRET_PLAIN;
    return status;
}

enum ht_status secret_file_settle(const char *path, enum secret_state *state,
                                  struct ht_error *err)
{
    struct stat found;
    struct text text = {0};
    *state = SECRET_ABSENT;
    if (lstat(path, &found) != 0 || !S_ISREG(found.st_mode) ||
        found.st_size == 0)
        return HT_OK;
    enum ht_status status = read_whole(path, O_NOFOLLOW, &text, err);
    if (status == HT_OK)
        status = settle(path, text_string(&text), state, err);
    secret_wipe(&text);
    return status;
}
