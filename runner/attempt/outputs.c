#include "runner/attempt/outputs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/text.h"
#include "runner/base/disk.h"
#include "runner/base/safe_path.h"

static const char scheme[] = "gs://";

const struct pair output_folders[OUTPUT_FOLDERS] = {
    {"AIP_MODEL_DIR", "model"},
    {"AIP_CHECKPOINT_DIR", "checkpoints"},
    {"AIP_TENSORBOARD_LOG_DIR", "logs"},
};

char *outputs_trial_folder(struct arena *arena, const struct site *site,
                           const struct order_key *key)
{
    return arena_printf(arena, "%s/%lld/%lld", site->state,
                        (long long)key->study, (long long)key->trial);
}

const char *outputs_here(struct arena *arena, const struct site *site,
                         const struct order *order)
{
    const char *folder = order->output_dir;
    if (folder == NULL)
        return outputs_trial_folder(arena, site, &order->key);
    if (folder[0] == '/')
        return folder;
    if (strncmp(folder, scheme, sizeof scheme - 1) == 0 &&
        outputs_is_rewritten(site, order))
        return outputs_rewrite(arena, folder, site->gcs_root);
    return NULL;
}

const char *outputs_root(const struct site *site, const char *folder)
{
    if (safe_path_rest(site->state, folder) != NULL)
        return site->state;
    for (size_t i = 0; i < site->volume_roots.n; i++) {
        if (safe_path_rest(site->volume_roots.items[i], folder) != NULL)
            return site->volume_roots.items[i];
    }
    return site->gcs_root != NULL && safe_path_rest(site->gcs_root, folder)
               ? site->gcs_root
               : NULL;
}

/* A file stays, as an earlier attempt may have written it. */
static enum ht_status make_output(const char *path, const char *variable,
                                  struct ht_error *err)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode))
        return ht_fail(err, HT_PRECONDITION,
                       "%.300s is a file, where %s is to be a folder", path,
                       variable);
    return disk_make_folder(path, err);
}

static bool has_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool found = false;
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
        found =
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir != NULL)
        closedir(dir);
    return found;
}

/* The first of the three that is not empty; NULL: all are. */
static const char *find_filled(struct arena *arena, const char *here)
{
    for (size_t i = 0; i < OUTPUT_FOLDERS; i++) {
        const char *folder =
            arena_printf(arena, "%s/%s", here, output_folders[i].value);
        if (has_entries(folder))
            return folder;
    }
    return NULL;
}

static enum ht_status put_aside(struct arena *arena, const char *here,
                                struct ht_error *err)
{
    const char *aside =
        arena_printf(arena, "%s.before-%lld", here, (long long)clock_wall_ms());
    if (rename(here, aside) != 0)
        return ht_fail_errno(err, errno, "cannot put %s aside", here);
    log_event(LOG_WARN, "outputs.aside", "folder=%s", aside);
    return HT_OK;
}

/* A custom job may continue from what is there, and buckets are left to their
 * users; what is at a cluster is runner/far's. */
enum ht_status outputs_begin(const struct site *site, const struct order *order,
                             struct ht_error *err)
{
    const char *asked = order->output_dir;
    if (site->far || order->begun || !order->tuning ||
        (asked != NULL && asked[0] != '/'))
        return HT_OK;
    struct arena *arena = arena_new();
    const char *here = outputs_here(arena, site, order);
    const char *filled = find_filled(arena, here);
    enum ht_status status = HT_OK;
    if (filled != NULL && asked == NULL)
        status = put_aside(arena, here, err);
    else if (filled != NULL)
        status = ht_fail(err, HT_PRECONDITION,
                         "outputDir: %.160s has files of another trial: choose "
                         "another outputDir, or move them away",
                         filled);
    arena_free(arena);
    return status;
}

enum ht_status outputs_make(const char *here, struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < OUTPUT_FOLDERS; i++)
        status = make_output(
            arena_printf(arena, "%s/%s", here, output_folders[i].value),
            output_folders[i].name, err);
    arena_free(arena);
    return status;
}

enum ht_status outputs_share(const char *root, const char *here, bool passed,
                             struct ht_error *err)
{
    const struct safe_path_modes modes = {.parents = passed ? 0711 : 0700,
                                          .last = 0777};
    const char *rest = safe_path_rest(root, here);
    if (rest == NULL)
        return ht_fail(err, HT_PRECONDITION, "%s is not below %s", here, root);
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < OUTPUT_FOLDERS; i++)
        status = safe_path_make(
            root, arena_printf(arena, "%s/%s", rest, output_folders[i].value),
            &modes, err);
    arena_free(arena);
    return status;
}

void outputs_remove_empty(const struct site *site, const struct order_key *key)
{
    struct arena *arena = arena_new();
    const char *trial = outputs_trial_folder(arena, site, key);
    for (size_t i = 0; i < OUTPUT_FOLDERS; i++)
        rmdir(arena_printf(arena, "%s/%s", trial, output_folders[i].value));
    rmdir(trial);
    rmdir(arena_printf(arena, "%s/%lld", site->state, (long long)key->study));
    arena_free(arena);
}

const char *outputs_checkpoints(struct arena *arena, const struct site *site,
                                const struct order_key *key)
{
    const char *folder = arena_printf(arena, "%s/checkpoints",
                                      outputs_trial_folder(arena, site, key));
    return has_entries(folder) ? folder : NULL;
}

/* ---- gs:// ---- */

bool outputs_is_rewritten(const struct site *site, const struct order *order)
{
    return order->rewrite_gcs && site->gcs_root != NULL;
}

/* "logs://x" holds no gs:// URL. */
static bool begins_url(const char *text, const char *at)
{
    return at == text || !isalnum((unsigned char)at[-1]);
}

const char *outputs_rewrite(struct arena *arena, const char *text,
                            const char *mount)
{
    struct text out = {0};
    const char *at = text, *next;
    while ((next = strstr(at, scheme)) != NULL) {
        const bool replaced = begins_url(text, next);
        const char *end = next + sizeof scheme - 1;
        text_append(&out, at, (size_t)((replaced ? next : end) - at));
        if (replaced)
            text_printf(&out, "%s/", mount);
        at = end;
    }
    text_puts(&out, at);
    return text_take(&out, arena);
}
