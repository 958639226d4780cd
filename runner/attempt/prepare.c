#include "runner/attempt/prepare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/base/file_tree.h"
#include "proto/base/limits.h"
#include "proto/job/metrics_file.h"
#include "runner/attempt/outputs.h"
#include "runner/attempt/replica_env.h"
#include "runner/base/credentials.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/procfs.h"
#include "runner/base/seen.h"

/* Marks a folder as an attempt's: written first, removed last. */
static const char lease_file[] = "lease.json";

char *prepare_attempt_folder(struct arena *arena, const struct site *site,
                             const struct order_key *key)
{
    return arena_printf(arena, "%s/%lld",
                        outputs_trial_folder(arena, site, key),
                        (long long)key->attempt);
}

char *prepare_replica_folder(struct arena *arena, const char *attempt_folder,
                             const struct replica_order *replica)
{
    return arena_printf(arena, "%s/%s", attempt_folder, replica->name);
}

enum ht_status prepare_lease(const char *attempt_folder,
                             const struct order *order, struct ht_error *err)
{
    const enum ht_status status = disk_make_folder(attempt_folder, err);
    if (status != HT_OK)
        return status;
    return disk_write(attempt_folder, lease_file, order->lease,
                      strlen(order->lease), 0600, err);
}

int64_t prepare_lease_ms(const char *attempt_folder)
{
    return disk_written_ms(attempt_folder, lease_file);
}

static enum ht_status write_params(const struct order *order,
                                   const char *folder, struct ht_error *err)
{
    struct text out = {0};
    for (size_t i = 0; i < order->params.n; i++)
        text_printf(&out, "%s=%s\n", order->params.items[i].name,
                    order->params.items[i].value);
    const enum ht_status status = disk_replace(
        folder, "params", text_string(&out), out.len, FOLDER_FILE_MODE, err);
    text_free(&out);
    return status;
}

/* All files but launch.json, which comes last. */
static enum ht_status fill_replica(const struct order *order,
                                   const char *folder, struct ht_error *err)
{
    enum ht_status status = disk_make_folder(folder, err);
    if (status == HT_OK && chmod(folder, 0777) != 0)
        status = ht_fail_errno(err, errno, "cannot open up %s", folder);
    if (status == HT_OK)
        status = disk_replace(folder, "token", order->token,
                              strlen(order->token), FOLDER_FILE_MODE, err);
    if (status == HT_OK)
        status = write_params(order, folder, err);
    return status;
}

/* Logs why the replica does not get the credentials that its job names. */
static void log_credentials(const struct replica_env *env,
                            const struct variables *variables,
                            const char *folder)
{
    const char *account = env->order->service_account;
    const char *ours = replica_env_credentials(env);
    const char *there = replica_env_find(variables, CREDENTIALS_VARIABLE);
    const bool same = there != NULL && ours != NULL && strcmp(there, ours) == 0;
    if (account != NULL && there != NULL && !same)
        folder_log_line(folder,
                        "the job or its image sets " CREDENTIALS_VARIABLE
                        ": the credentials of %s are not used",
                        account);
    else if (env->credentials.missing != NULL)
        folder_log_line(folder, "%s", env->credentials.missing);
}

static void log_job(const struct replica_env *env,
                    const struct variables *variables, const char *folder)
{
    if (variables->lacks_job)
        folder_log_line(
            folder,
            "CLUSTER_SPEC and TF_CONFIG are without \"job\": with its "
            "%lld bytes they would be longer than the %d that Linux "
            "takes of a variable",
            (long long)env->order->job_bytes, HT_MAX_WORD);
}

/* Root makes nothing at any place that a job names. */
static enum ht_status make_outputs(const struct site *site, const char *here,
                                   struct ht_error *err)
{
    if (site->guest.first_uid == 0)
        return outputs_make(here, err);
    const char *root = outputs_root(site, here);
    if (root == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "outputDir: %.160s is below none of the runner's "
                       "--volume-root folders, and its trials have users of "
                       "their own (--run-as)",
                       here);
    return outputs_share(root, here, true, err);
}

/* Only the master's results count. */
static const char *events_folder(struct arena *arena,
                                 const struct replica_env *env)
{
    const char *folder = env->order->metrics_events;
    if (folder == NULL || env->replica > 0)
        return NULL;
    const char *rest = metrics_events_in_trial(folder);
    if (rest != NULL || env->view->copied == NULL)
        return rest != NULL ? rest : folder;
    return arena_printf(arena, "%s/%s", folder_workdir(arena, "."), folder);
}

static enum ht_status prepare_replica(const struct replica_env *env,
                                      const char *folder, struct arena *arena,
                                      struct ht_error *err)
{
    const struct order *order = env->order;
    const struct replica_view *view = env->view;
    const struct replica_order *replica = &order->replicas[env->replica];
    if (view->argv.n == 0 && view->folder != NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "image %.128s has no command of its own: give one",
                       replica->image != NULL ? replica->image : "");
    enum ht_status status = fill_replica(order, folder, err);
    if (status == HT_OK && view->makes != NULL)
        status = make_outputs(env->site, view->makes, err);
    if (status != HT_OK)
        return status;
    struct variables variables = {.arena = arena};
    replica_env_set(&variables, env);
    log_credentials(env, &variables, folder);
    log_job(env, &variables, folder);
    char boot[PROCFS_BOOT_BYTES];
    const struct launch launch = {
        .argv = view->argv,
        .env = {.n = variables.n, .items = variables.items},
        .inherited = view->inherited,
        .workdir = view->workdir,
        .copied = view->copied,
        .left_out = view->copied != NULL ? order->metrics_file : NULL,
        .state = view->copied != NULL
                     ? seen_path(arena, env->site, env->site->state)
                     : NULL,
        .events = events_folder(arena, env),
        .metrics = order->metrics,
        .timeout_ms = order->timeout_ms,
        .grace_ms = order->grace_ms,
        .boot = !env->site->elastic && procfs_boot(boot) ? boot : NULL,
        .guest = view->guest,
    };
    return folder_write_launch(folder, &launch, err);
}

enum ht_status
prepare_replicas(const struct site *site, const struct order *order,
                 const struct placement *placement, const char *attempt_folder,
                 const struct replica_view views[], struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct pairs secrets = {0};
    struct credentials credentials = {0};
    enum ht_status status =
        replica_env_secrets(arena, site, order, getenv, &secrets, err);
    if (status == HT_OK && !views[0].own_accounts)
        status = credentials_copy(arena, site, order, &credentials, err);
    for (size_t i = 0; status == HT_OK && i < order->n_replicas; i++) {
        const struct replica_env env = {
            .site = site,
            .order = order,
            .placement = placement,
            .replica = i,
            .view = &views[i],
            .secrets = &secrets,
            .credentials = credentials,
        };
        const char *folder =
            prepare_replica_folder(arena, attempt_folder, &order->replicas[i]);
        status = prepare_replica(&env, folder, arena, err);
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

void prepare_remove(const struct site *site, const struct order_key *key)
{
    struct arena *arena = arena_new();
    const char *folder = prepare_attempt_folder(arena, site, key);
    credentials_remove(site, key);
    folder_reclaim(site->state, folder);
    file_tree_remove(folder, lease_file, NULL);
    outputs_remove_empty(site, key);
    arena_free(arena);
}
