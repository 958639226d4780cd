#include "runner/attempt/secrets.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/utf8.h"
#include "runner/base/disk.h"

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

static enum ht_status read_file(struct arena *arena, int fd,
                                const struct secret *secret, struct pair *pair,
                                struct ht_error *err)
{
    struct disk_bytes bytes;
    struct ht_error why;
    if (disk_read_open(arena, fd, MOST_BYTES, &bytes, &why) != HT_OK)
        return ht_fail(err, HT_PRECONDITION, "secrets.%.64s: its file %s",
                       secret->name, why.text);
    return keep(arena, secret, bytes.data, bytes.len, pair, err);
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
