#include "runner/prepare.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runner/disk.h"
#include "runner/folder.h"
#include "runner/identity.h"
#include "runner/procfs.h"

/* Folders of the trial, shared by its attempts, and the variables of Vertex
 * that name them. */
static const struct pair trial_folders[] = {
    {"AIP_MODEL_DIR", "model"},
    {"AIP_CHECKPOINT_DIR", "checkpoints"},
    {"AIP_TENSORBOARD_LOG_DIR", "logs"},
};
enum { N_TRIAL_FOLDERS = sizeof trial_folders / sizeof *trial_folders };

static char *trial_folder(struct arena *arena, const struct site *site,
                          const struct attempt_key *key)
{
    return arena_printf(arena, "%s/%lld/%lld", site->state,
                        (long long)key->study, (long long)key->trial);
}

char *prepare_attempt_folder(struct arena *arena, const struct site *site,
                             const struct attempt_key *key)
{
    return arena_printf(arena, "%s/%lld", trial_folder(arena, site, key),
                        (long long)key->attempt);
}

char *prepare_replica_folder(struct arena *arena, const char *attempt_folder,
                             const struct replica_order *replica)
{
    return arena_printf(arena, "%s/%s", attempt_folder, replica->name);
}

enum ht_status prepare_lease(const char *attempt_folder, const char *json,
                             size_t len, struct ht_error *err)
{
    const enum ht_status status = disk_make_folder(attempt_folder, err);
    if (status != HT_OK)
        return status;
    return disk_write(attempt_folder, "lease.json", json, len, 0600, err);
}

static enum ht_status write_params(const struct order *order,
                                   const char *folder, struct ht_error *err)
{
    struct text out = {0};
    text_puts(&out, "");
    for (size_t i = 0; i < order->params.n; i++)
        text_printf(&out, "%s=%s\n", order->params.items[i].name,
                    order->params.items[i].value);
    const enum ht_status status =
        disk_replace(folder, "params", out.data, out.len, 0600, err);
    text_free(&out);
    return status;
}

/* A folder of the job's own choice may lie where only the trainer gets. */
static enum ht_status make_trial_folders(const struct identity *identity,
                                         struct variables *variables,
                                         struct ht_error *err)
{
    const struct order *order = identity->order;
    struct arena *arena = variables->arena;
    const char *root = order->output_dir != NULL
                           ? order->output_dir
                           : trial_folder(arena, identity->site, &order->key);
    const char *slash =
        root[0] != '\0' && root[strlen(root) - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < N_TRIAL_FOLDERS; i++) {
        const char *path =
            arena_printf(arena, "%s%s%s", root, slash, trial_folders[i].value);
        const enum ht_status status =
            root[0] == '/' ? disk_make_folder(path, err) : HT_OK;
        if (status != HT_OK)
            return status;
        variables_set(variables, trial_folders[i].name, path);
    }
    return HT_OK;
}

/* Everything but launch.json, so that its presence proves the rest. */
static enum ht_status fill_replica(const struct identity *identity,
                                   struct variables *variables,
                                   struct ht_error *err)
{
    const struct order *order = identity->order;
    const char *folder = identity->folder;
    enum ht_status status = disk_make_folder(folder, err);
    if (status == HT_OK)
        status = disk_replace(folder, "token", order->token,
                              strlen(order->token), 0600, err);
    if (status == HT_OK)
        status = write_params(order, folder, err);
    if (status == HT_OK)
        status = make_trial_folders(identity, variables, err);
    return status;
}

static enum ht_status prepare_replica(const struct identity *identity,
                                      struct arena *arena, struct ht_error *err)
{
    const struct order *order = identity->order;
    const struct replica_order *replica = &order->replicas[identity->replica];
    struct variables variables = {.arena = arena};
    identity_set(&variables, identity);
    const enum ht_status status = fill_replica(identity, &variables, err);
    if (status != HT_OK)
        return status;
    char boot[PROCFS_BOOT_BYTES];
    const struct launch launch = {
        .argv = replica->argv,
        .env = {.n = variables.n, .items = variables.items},
        .workdir = replica->workdir,
        .timeout_ms = order->timeout_ms,
        .grace_ms = order->grace_ms,
        .boot = procfs_boot(boot) ? boot : NULL,
    };
    return folder_write_launch(identity->folder, &launch, err);
}

enum ht_status prepare_replicas(const struct site *site,
                                const struct order *order,
                                const struct placement *placement,
                                const char *attempt_folder,
                                struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < order->n_replicas; i++) {
        const struct identity identity = {
            .site = site,
            .order = order,
            .placement = placement,
            .replica = i,
            .folder = prepare_replica_folder(arena, attempt_folder,
                                             &order->replicas[i]),
        };
        status = prepare_replica(&identity, arena, err);
    }
    arena_free(arena);
    return status;
}

bool prepare_is_complete(const struct order *order, const char *attempt_folder)
{
    for (size_t i = 0; i < order->n_replicas; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s/launch.json",
                       order->replicas[i].name);
        if (!disk_has(attempt_folder, name))
            return false;
    }
    return true;
}

void prepare_remove(const struct site *site, const struct attempt_key *key)
{
    struct arena *arena = arena_new();
    disk_remove_tree(prepare_attempt_folder(arena, site, key));
    const char *trial = trial_folder(arena, site, key);
    for (size_t i = 0; i < N_TRIAL_FOLDERS; i++)
        rmdir(arena_printf(arena, "%s/%s", trial, trial_folders[i].value));
    rmdir(trial);
    rmdir(arena_printf(arena, "%s/%lld", site->state, (long long)key->study));
    arena_free(arena);
}
