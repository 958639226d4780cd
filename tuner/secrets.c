#include "tuner/secrets.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/log.h"
#include "proto/base/secret_file.h"
#include "tuner/webhook/config.h"

/* ---- keys ---- */

/* A key beside what it seals would be in each copy of that. */
static enum ht_status check_place(const char *file, const char *folder,
                                  struct ht_error *err)
{
    const size_t len = strlen(folder);
    char *real = realpath(file, NULL);
    const bool inside =
        real != NULL && strncmp(real, folder, len) == 0 && real[len] == '/';
    free(real);
    return inside ? ht_fail(err, HT_PRECONDITION,
                            "the key %s is in the data folder, where each "
                            "backup would have it, too: move it elsewhere",
                            file)
                  : HT_OK;
}

static enum ht_status read_key(const char *file, const char *folder,
                               struct seal_key *key, struct ht_error *err)
{
    const enum ht_status status = check_place(file, folder, err);
    return status == HT_OK ? seal_key_read(file, true, key, err) : status;
}

/* systemd gives its credentials to this service alone, whatever their mode
 * says: it may use an access control list. */
static enum ht_status read_credential(struct seal_key *key, bool *found,
                                      struct ht_error *err)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    enum ht_status status = HT_OK;
    if (folder == NULL)
        return HT_OK;
    struct arena *arena = arena_new();
    const char *file = arena_printf(arena, "%s/hypertune-key", folder);
    if (access(file, F_OK) == 0) {
        *found = true;
        status = seal_key_read(file, false, key, err);
    }
    arena_free(arena);
    return status;
}

static enum ht_status read_keys(struct secrets *secrets,
                                const struct options *options,
                                const char *folder, struct ht_error *err)
{
    struct seal_keys keys = {NULL, NULL};
    bool has_key = options->key_file != NULL;
    enum ht_status status =
        has_key ? read_key(options->key_file, folder, &secrets->key, err)
                : read_credential(&secrets->key, &has_key, err);
    if (status == HT_OK && options->old_key_file != NULL)
        status = read_key(options->old_key_file, folder, &secrets->old, err);
    if (status != HT_OK)
        return status;
    if (options->old_key_file != NULL && !has_key)
        return ht_fail(err, HT_INVALID,
                       "--old-key-file needs --key-file, the key that takes "
                       "its place");
    if (has_key)
        keys.key = &secrets->key;
    if (options->old_key_file != NULL)
        keys.old = &secrets->old;
    secret_file_use(keys, folder);
    if (has_key)
        snprintf(secrets->state.key, sizeof secrets->state.key, "%s",
                 secrets->key.id);
    return HT_OK;
}

/* ---- files ---- */

/* Each is there whole, plain or sealed, wherever the server is killed. */
static enum ht_status settle(struct secrets *secrets, const char *path,
                             const char *shown, struct ht_error *err)
{
    enum secret_state state;
    char *list = secrets->state.plain;
    const enum ht_status status = secret_file_settle(path, &state, err);
    failpoint_reach(&secrets->fail, "sealed");
    const size_t len = strlen(list);
    if (status == HT_OK && state == SECRET_PLAIN)
        snprintf(list + len, SECRETS_LIST_BYTES - len, "%s%s",
                 len > 0 ? " " : "", shown);
    return status;
}

/* What is sealed must open before anything is served: a webhook whose secret
 * does not is one whose events would be lost. */
static enum ht_status settle_sealed(struct secrets *secrets, const char *folder,
                                    struct arena *arena, struct ht_error *err)
{
    const struct dirent *entry;
    enum ht_status status = HT_OK;
    DIR *files = opendir(folder);
    if (files == NULL)
        return HT_OK; /* no TLS */
    while (status == HT_OK && (entry = readdir(files)) != NULL) {
        const char *path = arena_printf(arena, "%s/%s", folder, entry->d_name);
        if (secret_file_is_sealed(path))
            status = settle(secrets, path, entry->d_name, err);
    }
    closedir(files);
    return status;
}

static enum ht_status settle_tls(struct secrets *secrets,
                                 const struct options *options,
                                 const char *folder, struct arena *arena,
                                 struct ht_error *err)
{
    static const char *const names[] = {"key.pem", "next-key.pem",
                                        "ca-key.pem"};
    const char *tls = options->tls != NULL
                          ? options->tls
                          : arena_printf(arena, "%s/tls", folder);
    enum ht_status status = settle_sealed(secrets, tls, arena, err);
    for (size_t i = 0; status == HT_OK && i < sizeof names / sizeof *names; i++)
        status = settle(secrets, arena_printf(arena, "%s/%s", tls, names[i]),
                        arena_printf(arena, "tls/%s", names[i]), err);
    return status;
}

/* With the list open, the files that it names; those are after it, so that
 * without the key it is the list that says so. */
static enum ht_status settle_webhooks(struct secrets *secrets,
                                      const char *folder, struct arena *arena,
                                      struct ht_error *err)
{
    const char *path = arena_printf(arena, "%s/webhooks.json", folder);
    enum ht_status status = settle(secrets, path, "webhooks.json", err);
    if (status != HT_OK || access(path, F_OK) != 0)
        return status;
    struct text text = {0};
    struct webhook_rules rules;
    status = secret_file_read(path, &text, err);
    /* What is wrong with it is said where it comes into force. */
    if (status == HT_OK)
        (void)webhook_rules_read(arena, folder, text_string(&text), &rules,
                                 NULL);
    secret_wipe(&text);
    return status;
}

static enum ht_status settle_login(struct secrets *secrets,
                                   const struct options *options,
                                   const char *folder, struct arena *arena,
                                   struct ht_error *err)
{
    const char *file = options->mlflow_login;
    if (file == NULL || file[0] == '/')
        return HT_OK;
    return settle(secrets, arena_printf(arena, "%s/%s", folder, file), file,
                  err);
}

enum ht_status secrets_open(struct secrets *secrets,
                            const struct options *options, const char *folder,
                            const char *fail, struct ht_error *err)
{
    struct arena *arena = arena_new();
    failpoint_arm(&secrets->fail, fail);
    enum ht_status status = read_keys(secrets, options, folder, err);
    if (status == HT_OK)
        status = settle_sealed(secrets, folder, arena, err);
    if (status == HT_OK)
        status = settle_tls(secrets, options, folder, arena, err);
    if (status == HT_OK)
        status = settle_webhooks(secrets, folder, arena, err);
    if (status == HT_OK)
        status = settle_login(secrets, options, folder, arena, err);
    arena_free(arena);
    if (status != HT_OK) {
        secrets_close(secrets);
        return status;
    }
    if (secrets->state.key[0] != '\0')
        log_event(LOG_INFO, "secrets.sealed", "key=%s", secrets->state.key);
    else if (secrets->state.plain[0] != '\0')
        log_event(LOG_WARN, "secrets.plain", "files=\"%s\" mode=0600 see=%s",
                  secrets->state.plain, "--key-file");
    return HT_OK;
}

void secrets_close(struct secrets *secrets)
{
    secret_file_use((struct seal_keys){NULL, NULL}, NULL);
    explicit_bzero(secrets, sizeof *secrets);
}
