#include "runner/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/utf8.h"

enum { MOST_BYTES = 64 * 1024, MOST_NAME = 128 };

/* A plain name: nothing in it leads out of the folder. */
static bool is_plain(const char *name)
{
    const size_t len = strlen(name);
    return len > 0 && len <= MOST_NAME && name[0] != '.' &&
           strchr(name, '/') == NULL;
}

static enum ht_status refuse(const struct secret *secret, const char *why,
                             struct ht_error *err)
{
    return ht_fail(err, HT_PRECONDITION, "secrets.%.64s: %s", secret->name,
                   why);
}

/* An environment cannot carry everything a file can. */
static enum ht_status keep(struct arena *arena, const struct secret *secret,
                           char *value, size_t len, struct pair *pair,
                           struct ht_error *err)
{
    if (len > 0 && value[len - 1] == '\n')
        len--;
    value[len] = '\0';
    if (strlen(value) != len || !utf8_is_valid(value, len))
        return refuse(secret, "its value is not text", err);
    *pair = (struct pair){.name = secret->name,
                          .value = arena_strndup(arena, value, len)};
    return HT_OK;
}

/* Never more than the limit, so that a huge file cannot fill memory. */
static ssize_t read_all(int fd, char *bytes, size_t most)
{
    size_t len = 0;
    while (len < most) {
        const ssize_t n = read(fd, bytes + len, most - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

static enum ht_status read_file(struct arena *arena, int fd,
                                const struct secret *secret, struct pair *pair,
                                struct ht_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return refuse(secret, "is no plain file at the runner", err);
    char *bytes = arena_alloc(arena, MOST_BYTES + 2, 1);
    const ssize_t n = read_all(fd, bytes, MOST_BYTES + 1);
    if (n < 0)
        return refuse(secret, "its file cannot be read by the runner", err);
    if (n > MOST_BYTES)
        return refuse(secret, "its file is longer than 64 KiB", err);
    return keep(arena, secret, bytes, (size_t)n, pair, err);
}

static enum ht_status find_file(struct arena *arena, const struct site *site,
                                const struct secret *secret, struct pair *pair,
                                struct ht_error *err)
{
    if (site->secrets == NULL)
        return refuse(secret,
                      "this runner has no folder of secrets "
                      "(--secrets DIR)",
                      err);
    if (!is_plain(secret->file))
        return refuse(secret, "file must be a plain name", err);
    const int folder = open(site->secrets, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = folder < 0
                       ? -1
                       : openat(folder, secret->file,
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (folder >= 0)
        close(folder);
    if (fd < 0)
        return ht_fail(err, HT_PRECONDITION,
                       "secrets.%.64s: the runner has no file %.64s",
                       secret->name, secret->file);
    const enum ht_status status = read_file(arena, fd, secret, pair, err);
    close(fd);
    return status;
}

static enum ht_status find_variable(struct arena *arena,
                                    const struct secret *secret,
                                    char *(*lookup)(const char *name),
                                    struct pair *pair, struct ht_error *err)
{
    if (secret->env == NULL || !is_plain(secret->env))
        return refuse(secret, "names neither a file nor a variable", err);
    const char *value =
        lookup(arena_printf(arena, "HYPERTUNE_SECRET_%s", secret->env));
    if (value == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "secrets.%.64s: the runner has no variable "
                       "HYPERTUNE_SECRET_%.64s",
                       secret->name, secret->env);
    return keep(arena, secret, arena_strdup(arena, value), strlen(value), pair,
                err);
}

enum ht_status secrets_find(struct arena *arena, const struct site *site,
                            const struct order *order,
                            char *(*lookup)(const char *name),
                            struct pairs *values, struct ht_error *err)
{
    struct pair *items =
        arena_alloc(arena, order->n_secrets + 1, sizeof *items);
    for (size_t i = 0; i < order->n_secrets; i++) {
        const struct secret *secret = &order->secrets[i];
        const enum ht_status status =
            secret->file != NULL
                ? find_file(arena, site, secret, &items[i], err)
                : find_variable(arena, secret, lookup, &items[i], err);
        if (status != HT_OK)
            return status;
    }
    *values = (struct pairs){.n = order->n_secrets, .items = items};
    return HT_OK;
}
