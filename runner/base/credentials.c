#include "runner/base/credentials.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/log.h"
#include "proto/doc/node.h"
#include "proto/job/container_words.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"

enum { MOST_BYTES = 64 * 1024, MOST_ACCOUNTS = 500, COPY_MODE = 0444 };

static const char suffix[] = ".json";
static const char unnamed[] = "default"; /* the account of jobs without one */

/* ---- the admin's files ---- */

/* Why the rights of the open file do not allow its use; NULL: they do. */
static const char *rights_fault(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return "cannot be examined";
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return "belongs neither to the runner's user nor to root";
    return (info.st_mode & S_IRWXO) != 0
               ? "is open to other users (chmod o= it)"
               : NULL;
}

/* HT_NOT_FOUND     there is no such file
 * HT_PRECONDITION  it cannot be used; the text has the reason, not its name */
static enum ht_status read_account(struct arena *arena, const struct site *site,
                                   const char *account,
                                   struct disk_bytes *bytes,
                                   struct ht_error *err)
{
    const char *path =
        arena_printf(arena, "%s/%s%s", site->credentials, account, suffix);
    const int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return ht_fail(err, HT_NOT_FOUND, "is not there");
    if (fd < 0)
        return ht_fail(err, HT_PRECONDITION, "%s",
                       errno == ELOOP ? "is a symbolic link" : strerror(errno));
    struct ht_error why;
    const char *fault = rights_fault(fd);
    if (fault == NULL &&
        disk_read_open(arena, fd, MOST_BYTES, bytes, &why) != HT_OK)
        fault = why.text;
    close(fd);
    if (fault == NULL && json_read_map(arena, bytes->data, bytes->len) == NULL)
        fault = "is no JSON object";
    return fault == NULL ? HT_OK : ht_fail(err, HT_PRECONDITION, "%s", fault);
}

/* ---- the accounts ---- */

/* The account of a file's name; NULL: none. */
static const char *account_of(struct arena *arena, const char *name)
{
    const size_t len = strlen(name), end = sizeof suffix - 1;
    if (len <= end || strcmp(name + len - end, suffix) != 0)
        return NULL;
    const char *account = arena_strndup(arena, name, len - end);
    return container_account_fault(account) == NULL ? account : NULL;
}

static bool is_usable(struct arena *arena, const struct site *site,
                      const char *account)
{
    struct disk_bytes bytes;
    struct ht_error err;
    if (read_account(arena, site, account, &bytes, &err) == HT_OK)
        return true;
    log_event(LOG_WARN, "credentials.unusable", "file=%s/%s%s reason=\"%s\"",
              site->credentials, account, suffix, err.text);
    return false;
}

struct strings credentials_accounts(struct arena *arena,
                                    const struct site *site)
{
    const char **items = arena_alloc(arena, MOST_ACCOUNTS, sizeof *items);
    struct strings found = {.items = items};
    struct dirent **names = NULL;
    const int n = site->credentials != NULL
                      ? scandir(site->credentials, &names, NULL, alphasort)
                      : 0;
    struct arena *scratch = arena_new();
    for (int i = 0; i < n; i++) {
        const char *account = account_of(arena, names[i]->d_name);
        if (account != NULL && found.n < MOST_ACCOUNTS &&
            is_usable(scratch, site, account))
            items[found.n++] = account;
        free(names[i]);
    }
    free(names);
    arena_free(scratch);
    return found;
}

/* ---- an attempt's copy ---- */

static const char *copies_folder(struct arena *arena, const struct site *site)
{
    return arena_printf(arena, "%s/credentials", site->state);
}

static const char *copy_name(struct arena *arena, const struct order_key *key)
{
    return arena_printf(arena, "%lld-%lld-%lld%s", (long long)key->study,
                        (long long)key->trial, (long long)key->attempt, suffix);
}

/* NULL when the job names no account. */
static const char *explain_missing(struct arena *arena, const struct site *site,
                                   const char *account,
                                   const struct ht_error *err)
{
    if (account == NULL)
        return NULL;
    if (site->credentials == NULL)
        return arena_printf(arena,
                            "no credentials of %s: this runner has no folder "
                            "of them (--credentials DIR); it runs without",
                            account);
    return arena_printf(
        arena, "no credentials of %s: %s%s %s%s; it runs without", account,
        account, suffix, err->text,
        err->status == HT_NOT_FOUND ? " in this runner's --credentials folder"
                                    : "");
}

static enum ht_status write_copy(struct arena *arena, const struct site *site,
                                 const struct order_key *key,
                                 const struct disk_bytes *bytes,
                                 struct ht_error *err)
{
    const char *folder = copies_folder(arena, site);
    const enum ht_status status = disk_make_folder(folder, err);
    if (status != HT_OK)
        return status;
    return disk_replace(folder, copy_name(arena, key), bytes->data, bytes->len,
                        COPY_MODE, err);
}

enum ht_status credentials_copy(struct arena *arena, const struct site *site,
                                const struct order *order,
                                struct credentials *given, struct ht_error *err)
{
    const char *asked = order->service_account;
    const char *account = asked != NULL ? asked : unnamed;
    struct disk_bytes bytes = {.data = NULL};
    struct ht_error why = {.status = HT_NOT_FOUND};
    if (site->credentials == NULL ||
        read_account(arena, site, account, &bytes, &why) != HT_OK) {
        credentials_remove(site, &order->key); /* of an earlier try */
        *given = (struct credentials){
            .missing = explain_missing(arena, site, asked, &why)};
        return HT_OK;
    }
    const enum ht_status status =
        write_copy(arena, site, &order->key, &bytes, err);
    if (status == HT_OK)
        *given = (struct credentials){
            .file = credentials_path(arena, site, &order->key)};
    return status;
}

const char *credentials_path(struct arena *arena, const struct site *site,
                             const struct order_key *key)
{
    return arena_printf(arena, "%s/%s", copies_folder(arena, site),
                        copy_name(arena, key));
}

void credentials_remove(const struct site *site, const struct order_key *key)
{
    struct arena *arena = arena_new();
    (void)unlink(credentials_path(arena, site, key));
    arena_free(arena);
}

/* ---- what no log may show ---- */

struct strings credentials_secrets(struct arena *arena, const char *file)
{
    static const char *const members[] = {"private_key", "private_key_id",
                                          "client_secret", "refresh_token"};
    enum { MEMBERS = sizeof members / sizeof *members };
    const char **items = arena_alloc(arena, MEMBERS, sizeof *items);
    struct strings secrets = {.items = items};
    const char *slash = strrchr(file, '/');
    struct disk_bytes bytes;
    const struct node *root = NULL;
    if (slash != NULL &&
        disk_read(arena, arena_strndup(arena, file, (size_t)(slash - file)),
                  slash + 1, MOST_BYTES, &bytes, NULL) == HT_OK)
        root = json_read_map(arena, bytes.data, bytes.len);
    for (size_t i = 0; root != NULL && i < MEMBERS; i++) {
        const char *value = node_get_string(root, members[i], NULL);
        if (value != NULL)
            items[secrets.n++] = value;
    }
    return secrets;
}
